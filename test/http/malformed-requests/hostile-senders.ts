import type { Socket } from 'node:net';
import { type RawAnswer, RawConnection } from '../raw-http.js';

const MEGABYTE = new Uint8Array(1_048_576).fill(0x20);
const CHUNK = Buffer.concat([Buffer.from('100000\r\n'), MEGABYTE, Buffer.from('\r\n')]);

const PIECES = 100;

const written = (socket: Socket, bytes: Uint8Array | string): Promise<void> =>
  new Promise((resolve) => socket.write(bytes, () => resolve()));

/** So many bodies, each sent to its end or until its connection is cut, whatever is answered meanwhile. Gives their statuses. */
const stream = async (port: number, head: string, piece: Uint8Array, count: number): Promise<readonly number[]> => {
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
  for (const connection of connections) connection.send(head);
  // Side by side, so that what the service holds of one body it holds of all, until it cuts their connections.
  for (let sent = 0; sent < PIECES; sent += 1) {
    const open = connections.filter(({ socket }) => !socket.destroyed);
    await Promise.all(open.map(({ socket }) => written(socket, piece)));
  }
  const answers = await Promise.all(connections.map((connection) => connection.answer()));
  for (const connection of connections) connection.close();
  return answers.map(({ status }) => status);
};

/** Bodies of 100 MB: the first half declared, the second in chunks. Gives their statuses. */
export const streamBodies = async (port: number, key: string, count: number): Promise<readonly number[]> => {
  const head = `POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`;
  const declared = `${head}Content-Length: ${PIECES * MEGABYTE.byteLength}\r\n\r\n`;
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  const statuses = await Promise.all([
    stream(port, declared, MEGABYTE, count / 2),
    stream(port, chunked, CHUNK, count / 2),
  ]);
  return statuses.flat();
};

/** How a connection ended that never came to the end of what it sends. Times are monotonic. */
interface CutOff {
  /** Null where it ended without one. */
  readonly answer: RawAnswer | null;
  readonly answeredAtMs: number;
  readonly cutAtMs: number;
}

export interface Trickle {
  readonly begunAtMs: number;
  /** Half of the senders never end a header, the other half never a body. */
  readonly cutOff: Promise<{ readonly ofHeaders: readonly CutOff[]; readonly ofBodies: readonly CutOff[] }>;
  stop(): void;
}

const cutOff = async (sender: RawConnection): Promise<CutOff> => {
  const cut = new Promise<number>((resolve) => sender.socket.once('close', () => resolve(performance.now())));
  const answer = await sender.answer().catch(() => null);
  return { answer, answeredAtMs: performance.now(), cutAtMs: await cut };
};

/** Connections that send a byte now and then, also after their answer, until they are cut or stopped. */
export const trickle = async (port: number, key: string, count: number): Promise<Trickle> => {
  const begunAtMs = performance.now();
  const senders = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
  const [ofHeaders, ofBodies] = [senders.slice(0, count / 2), senders.slice(count / 2)];
  const body = `POST /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{`;
  for (const sender of ofHeaders) sender.send('GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ');
  for (const sender of ofBodies) sender.send(body);
  const timer = setInterval(() => {
    for (const sender of senders) if (!sender.socket.destroyed) sender.send('a');
  }, 100);
  const all = (some: readonly RawConnection[]): Promise<readonly CutOff[]> => Promise.all(some.map(cutOff));
  return {
    begunAtMs,
    cutOff: Promise.all([all(ofHeaders), all(ofBodies)]).then(([headers, bodies]) => ({
      ofHeaders: headers,
      ofBodies: bodies,
    })),
    stop: () => {
      clearInterval(timer);
      for (const sender of senders) sender.close();
    },
  };
};

/** Clients that send 20,000 requests ahead at once. Gives how many were answered, for each. */
export const flood = (port: number, key: string, count: number): Promise<readonly number[]> => {
  const requests = `GET /v1/actions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`.repeat(20_000);
  return Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await RawConnection.open(port);
      connection.send(requests);
      const answers = await connection.untilClosed();
      connection.close();
      return answers.split('HTTP/1.1 200 ').length - 1;
    }),
  );
};

/** As many connections, each of which sends these bytes and is read until the server has closed it. */
const sendEach = async (port: number, bytes: Uint8Array | string, count: number): Promise<readonly string[]> => {
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
  for (const connection of connections) connection.send(bytes);
  const answers = await Promise.all(connections.map((connection) => connection.untilClosed()));
  for (const connection of connections) connection.close();
  return answers;
};

/** Requests of 27 bytes, as many as a server reads at once. */
export const sendAhead = (port: number, count: number): Promise<readonly string[]> =>
  sendEach(port, 'GET /x HTTP/1.1\r\nHost:x\r\n\r\n'.repeat(2_400), count);

export const sendLongHeaders = (port: number, count: number): Promise<readonly string[]> =>
  sendEach(port, `GET /v1/health HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(1_000_000)}`, count);

/** A byte a chunk, and no end: behind a request, so that the body waits for its turn. */
export const sendTinyChunks = (port: number, count: number): Promise<readonly string[]> => {
  const first = 'GET /v1/health HTTP/1.1\r\nHost: x\r\n\r\n';
  const head =
    'POST /v1/none HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
  return sendEach(port, `${first}${head}${'1\r\nx\r\n'.repeat(10_800)}`, count);
};

/** A body of 256 KiB in chunks of a byte, to its end, by somebody who may send it. */
export const sendTinyBody = (port: number, key: string, count: number): Promise<readonly string[]> => {
  const head = `POST /v1/actions HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  return sendEach(port, `${head}${'1\r\nx\r\n'.repeat(262_144)}0\r\n\r\n`, count);
};

/** Each ends its side within a head. */
export const endEarly = async (port: number, count: number): Promise<readonly string[]> => {
  const connections = await Promise.all(Array.from({ length: count }, () => RawConnection.open(port)));
  for (const { socket } of connections) socket.end('GET /v1/actions HTTP/1.1\r\nHost: x\r\nX-A: ');
  return Promise.all(connections.map((connection) => connection.untilClosed()));
};
