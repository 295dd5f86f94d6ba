import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';

/** One request as its bytes came, and the connection it came on. */
export interface RawRequest {
  /** Request line and headers, without the empty line. */
  readonly head: string;
  readonly body: string;
  readonly socket: Socket;
  /** From 0, over all connections. */
  readonly index: number;
}

/** Bytes to write, or null when the script writes (or breaks) the connection itself. */
export type RawAnswer = (request: RawRequest) => string | Buffer | null;

export interface RawUpstream {
  readonly port: number;
  readonly requests: readonly RawRequest[];
  /** Every byte that arrived, TLS undone. */
  readonly receivedBytes: number;
  readonly connections: number;
  close(): Promise<void>;
}

/** An HTTP answer with its length, kept alive unless the headers say otherwise. */
export const httpAnswer = (
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Buffer => {
  const bytes = Buffer.from(body as string);
  const lines = [
    `HTTP/1.1 ${status} Said`,
    ...(Object.keys(headers).some((name) => name.toLowerCase() === 'content-length')
      ? []
      : [`Content-Length: ${bytes.byteLength}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
};

export const jsonAnswer = (status: number, body: unknown, headers: Record<string, string> = {}): Buffer =>
  httpAnswer(status, JSON.stringify(body), { 'Content-Type': 'application/json', ...headers });

/**
 * A server below HTTP: it shows the very bytes that arrived and answers with the very bytes it is told to, so that no
 * parser of a framework stands between a test and the wire.
 */
export const startRawUpstream = async (
  answer: RawAnswer,
  tls?: TlsOptions,
  place = { port: 0, host: '127.0.0.1' },
): Promise<RawUpstream> => {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  const counted = { bytes: 0, connections: 0 };
  const accept = (socket: Socket) => {
    let pending = '';
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    socket.on('data', (chunk: Buffer) => {
      counted.bytes += chunk.byteLength;
      pending += chunk.toString('latin1');
      for (let taken = takeRequest(pending); taken !== null; taken = takeRequest(pending)) {
        pending = taken.rest;
        const request = { head: taken.head, body: taken.body, socket, index: requests.length };
        requests.push(request);
        const bytes = answer(request);
        if (bytes !== null && !socket.destroyed) socket.write(bytes);
      }
    });
  };
  const server: Server = tls === undefined ? createServer(accept) : createTlsServer(tls, accept);
  server.on('connection', (socket: Socket) => {
    counted.connections += 1;
    socket.on('error', () => socket.destroy());
    sockets.add(socket);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => {
    server.listen(place, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : 0,
    requests,
    get receivedBytes() {
      return counted.bytes;
    },
    get connections() {
      return counted.connections;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => {
          resolve();
        });
      }),
  };
};

const takeRequest = (text: string): { head: string; body: string; rest: string } | null => {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = text.slice(0, end);
  const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
  const start = end + 4;
  if (text.length < start + length) return null;
  return {
    head,
    body: Buffer.from(text.slice(start, start + length), 'latin1').toString('utf8'),
    rest: text.slice(start + length),
  };
};
