import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as an upstream saw it, written down before it is answered. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Upstream {
  readonly baseUrl: string;
  readonly seen: readonly SeenRequest[];
  /** Requests for an action, told by the header that every connector call carries. */
  countFor(action: string): number;
  close(): Promise<void>;
}

/** What an upstream does with a request; nothing, to keep it waiting. */
export type Answer = (seen: SeenRequest, response: ServerResponse) => void;

const ok: Answer = (_seen, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
};

/** A real HTTP server that counts what reaches it. */
export const startUpstream = async (answer: Answer = ok): Promise<Upstream> => {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    bodyOf(request).then(
      (body) => {
        const entry = { method: request.method ?? '', path: request.url ?? '', headers: request.headers, body };
        seen.push(entry);
        answer(entry, response);
      },
      // Whoever sent it has gone before its end: nothing takes effect.
      (error: Error) => response.destroy(error),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    seen,
    countFor: (action) => seen.filter(({ headers }) => headers['service-action-id'] === action).length,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};
