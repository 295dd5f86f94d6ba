import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { MAX_ADD_CHECKPOINT_BYTES } from '#libs/crypto';
import { DamagedState, UncertainState } from './latest-checkpoints.js';
import { ClientGone, saying, type Witness, type WitnessAnswer } from './witness.js';
import type { WitnessLog } from './witness-log.js';

/** With one request each at a time, they bound the memory that bodies take to some 34 MB. */
const MAX_CONNECTIONS = 128;
const HEADERS_TIMEOUT_MS = 10_000;
/** Of a whole request, its body included. */
const REQUEST_TIMEOUT_MS = 20_000;
const KEEP_ALIVE_MS = 60_000;
const MAX_HEADER_BYTES = 8 * 1024;
/** What is under way when the end comes. */
const DRAIN_MS = 10_000;

const ADD_CHECKPOINT = '/add-checkpoint';
const CHECKPOINT = /^\/([0-9a-f]{64})\/checkpoint$/;

/** Where it listens, and what ends it. */
export interface ListeningWitness {
  readonly url: string;
  /** Resolves, with the error, when the state may not be what is on disk: the process must end at once. */
  readonly broken: Promise<UncertainState>;
  /** Takes no more, answers what is under way, and resolves. */
  close(): Promise<void>;
}

export interface ListenOptions {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

/** A body that is larger than any that can be meant. */
class BodyTooLarge extends Error {
  override readonly name = 'BodyTooLarge';
}

/** The client went away. Nobody is there to be answered. */
class BodyCutShort extends Error {
  override readonly name = 'BodyCutShort';
}

/** No address to listen on. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/** Serves both prefixes of tlog-witness, submission and monitoring, at the root. @throws {ListenError} */
export const listen = async (
  witness: Witness,
  log: WitnessLog,
  { host, port }: ListenOptions,
): Promise<ListeningWitness> => {
  let tellBroken: (error: UncertainState) => void;
  const broken = new Promise<UncertainState>((resolve) => (tellBroken = resolve));
  const underWay = new WeakSet<Socket>();
  const server = createServer(
    {
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      connectionsCheckingInterval: 1_000,
    },
    (request, response) => {
      if (isPipelined(underWay, request, response)) {
        log.tell('info', 'refused', { reason: 'pipelined' });
        return void request.socket.destroy();
      }
      void answer(witness, request).then(
        (answered) => {
          // Who asked last before the end keeps no connection open beyond it.
          if (!server.listening) response.setHeader('Connection', 'close');
          send(response, answered);
        },
        (error: unknown) => {
          if (error instanceof UncertainState) tellBroken(error);
          failed(error, response, log);
        },
      );
    },
  );
  // Of a connection that could not be taken, for lack of file descriptors: the next one may be.
  server.on('error', (error) => log.tell('error', 'not_accepted', { error: textOf(error) }));
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw new ListenError(`${host}:${port} cannot be listened on: ${textOf(error)}.`, { cause: error });
  }
  return { url: urlOf(server), broken, close: () => drained(server) };
};

/**
 * Whether a connection asks again before it was answered: one alone could hold memory without end, and a log's turn, with
 * what it asks ahead.
 */
const isPipelined = (underWay: WeakSet<Socket>, { socket }: IncomingMessage, response: ServerResponse): boolean => {
  if (underWay.has(socket)) return true;
  underWay.add(socket);
  response.once('finish', () => underWay.delete(socket));
  return false;
};

const urlOf = (server: Server): string => {
  const { address, family, port } = server.address() as AddressInfo;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
};

const answer = async (witness: Witness, request: IncomingMessage): Promise<WitnessAnswer> => {
  const [path = ''] = (request.url ?? '').split('?');
  if (path === ADD_CHECKPOINT) {
    if (request.method !== 'POST') return saying(405, 'POST is expected');
    return witness.addCheckpoint(await bodyOf(request), () => request.socket.destroyed);
  }
  const [, originHash] = CHECKPOINT.exec(path) ?? [];
  if (originHash === undefined) return saying(404, 'nothing is here');
  if (request.method !== 'GET') return saying(405, 'GET is expected');
  return witness.checkpoint(originHash);
};

/** Nothing beyond the bound is kept. */
const bodyOf = async (request: IncomingMessage): Promise<Uint8Array> => {
  if (Number(request.headers['content-length'] ?? 0) > MAX_ADD_CHECKPOINT_BYTES) throw new BodyTooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      if (bytes > MAX_ADD_CHECKPOINT_BYTES) throw new BodyTooLarge();
      chunks.push(chunk);
    }
  } catch (error) {
    if (error instanceof BodyTooLarge) throw error;
    throw new BodyCutShort('the request ended before its body', { cause: error });
  }
  return Buffer.concat(chunks);
};

const failed = (error: unknown, response: ServerResponse, log: WitnessLog): void => {
  if (error instanceof BodyCutShort || error instanceof ClientGone) return void response.destroy();
  if (error instanceof BodyTooLarge) {
    log.tell('info', 'refused', { status: 413, reason: 'too_large' });
    response.setHeader('Connection', 'close');
    send(response, saying(413, `a request has at most ${MAX_ADD_CHECKPOINT_BYTES} bytes`));
    return;
  }
  log.tell('error', eventOf(error), { error: textOf(error) });
  response.setHeader('Connection', 'close');
  send(response, saying(500, 'the witness could not keep the checkpoint, and cosigned nothing'));
};

const eventOf = (error: unknown): string => {
  if (error instanceof UncertainState) return 'state_uncertain';
  return error instanceof DamagedState ? 'state_damaged' : 'failed';
};

const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
};

const send = (response: ServerResponse, { status, body, mediaType }: WitnessAnswer): void => {
  const allowed = status === 405 ? { Allow: String(body).startsWith('POST') ? 'POST' : 'GET' } : {};
  response.writeHead(status, {
    'Content-Type': mediaType,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...allowed,
  });
  response.end(body);
};

const drained = async (server: Server): Promise<void> => {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeIdleConnections();
  const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await closed;
  clearTimeout(late);
};
