import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import { type EndSignal, failpoint, isFailpointArmed } from '#libs/domain/kernel';

import { headersOf } from './answer-headers.js';
import { EgressFailure } from './egress-failure.js';
import { ACCEPTED_ENCODINGS, type DigestedBody, readBody } from './response-body.js';

export interface OutgoingRequest {
  readonly method: string;
  /** Host and, when it is not the scheme's own, port. */
  readonly authority: string;
  /** Path and query, exactly as they go into the request line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | null;
  readonly maxResponseBytes: number;
  /** A larger answer is read to its end, and its body kept as a digest. */
  readonly keptResponseBytes: number;
  /** The deadline, and whatever else ends the request. Covers the body of the answer. */
  readonly signal: EndSignal;
}

export interface EgressResponse {
  readonly status: number;
  /** In order of arrival, names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | DigestedBody;
  /** False when the body is in a coding that was not undone. */
  readonly isDecoded: boolean;
}

export interface ExchangeResult {
  readonly response: EgressResponse;
  /** The connection may carry another request, and for how long the server keeps it. Null: it is closed. */
  readonly keptForMs: number | null;
}

const MAX_HEADER_BYTES = 32_768;
/**
 * Answers of status 1xx before the one that counts. A server that means well sends one or two; each more costs the whole process
 * time, and no limit of an answer's head or body counts them.
 */
const MAX_INTERIM_ANSWERS = 16;
const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH'];
const DEFAULT_KEPT_FOR_MS = 5_000;
/** The server counts from its last byte, we from ours. */
const KEPT_SLACK_MS = 1_000;

/** False when it closes instead. Leaves nothing on a socket that is used again. */
const isFreed = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    const onFree = () => settle(true);
    const onClose = () => settle(false);
    const settle = (isFree: boolean) => {
      socket.off('free', onFree).off('close', onClose);
      resolve(isFree);
    };
    socket.once('free', onFree).once('close', onClose);
  });

/**
 * Closes a socket that says anything after the answer is complete. Its parser has left by then, and until the pool watches
 * over it nobody else would hear: the rest of such words could pass for the next answer. Returns what ends the watch.
 */
const watchAfter = (incoming: IncomingMessage): (() => void) => {
  const { socket } = incoming;
  const onData = () => {
    if (incoming.complete) socket.destroy();
  };
  // Before the parser: what it has yet to complete the answer with is no stray.
  socket.prependListener('data', onData);
  return () => socket.off('data', onData);
};

/**
 * One request and its answer on a connected, checked socket.
 * @throws {EgressFailure} timeout, broken, too_large; the socket is then destroyed. The request counts as sent from the
 * moment its first byte is handed to the socket.
 */
export const exchange = async (socket: Socket, request: OutgoingRequest, isKept: boolean): Promise<ExchangeResult> => {
  if (request.signal.aborted) {
    socket.destroy();
    throw new EgressFailure('timeout', false);
  }
  const bytesBefore = socket.bytesRead;
  const outgoing = createRequest(socket, request, isKept);
  const stop = () => outgoing.destroy(new EgressFailure('timeout', true));
  request.signal.addEventListener('abort', stop);
  let endWatch: () => void = () => undefined;
  try {
    const answered = firstAnswer(outgoing);
    const freed = isFreed(socket);
    const heard = isKept ? answered.then((incoming) => void (endWatch = watchAfter(incoming))) : undefined;
    const [incoming] = await Promise.all([answered, sendAll(outgoing, request.body), heard]);
    const { method, maxResponseBytes: maxBytes, keptResponseBytes: keptBytes } = request;
    const read = await readBody(incoming, method, { maxBytes, keptBytes });
    // A body without a length ends with its connection, also where it was ended here. Any other is whole, however late it is.
    if (request.signal.aborted && !saysItsEnd(incoming)) throw new EgressFailure('timeout', true);
    await failpoint('exec.answered');
    const response = { status: incoming.statusCode ?? 0, headers: headersOf(incoming), ...read };
    // Who answers before it has read the request may never read the rest, and the connection never be free.
    const mayBeKept = isKept && outgoing.shouldKeepAlive && outgoing.writableFinished;
    const isFree = mayBeKept && (await freed);
    if (!isFree) socket.destroy();
    return { response, keptForMs: isFree ? keptForMs(incoming) : null };
  } catch (error) {
    socket.destroy();
    if (request.signal.aborted) throw new EgressFailure('timeout', true, { cause: error });
    if (error instanceof EgressFailure) throw error;
    const isStale = bytesBefore > 0 && socket.bytesRead === bytesBefore;
    throw new EgressFailure('broken', true, { isStale, cause: error });
  } finally {
    request.signal.removeEventListener('abort', stop);
    endWatch();
  }
};

export const createRequest = (
  socket: Socket,
  request: Omit<OutgoingRequest, 'keptResponseBytes'>,
  isKept: boolean,
): ClientRequest => {
  const { method, authority, target, headers, body } = request;
  const needsLength = body !== null || METHODS_WITH_BODY.includes(method);
  return httpRequest({
    createConnection: () => socket,
    method,
    path: target,
    maxHeaderSize: MAX_HEADER_BYTES,
    headers: {
      Host: authority,
      ...Object.fromEntries(headers),
      'Accept-Encoding': ACCEPTED_ENCODINGS,
      ...(needsLength ? { 'Content-Length': body?.byteLength ?? 0 } : {}),
      Connection: isKept ? 'keep-alive' : 'close',
    },
  });
};

/** Resolves when all is handed over, or earlier: the answer may come before. */
export const sendAll = async (outgoing: ClientRequest, body: Uint8Array | null): Promise<void> => {
  let unsent = body;
  if (unsent !== null && isFailpointArmed('exec.mid_send')) {
    const half = Math.floor(unsent.byteLength / 2);
    const first = unsent.subarray(0, half);
    await new Promise<void>((resolve) => outgoing.write(first, () => resolve()));
    await failpoint('exec.mid_send');
    unsent = unsent.subarray(half);
  }
  if (!isFailpointArmed('exec.sent')) {
    outgoing.end(unsent ?? undefined);
    return;
  }
  await new Promise<void>((resolve) => outgoing.end(unsent ?? undefined, resolve));
  await failpoint('exec.sent');
};

export const firstAnswer = (outgoing: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const onClose = () => reject(new Error('the connection was closed without an answer'));
    outgoing.once('response', (incoming) => {
      outgoing.off('close', onClose);
      resolve(incoming);
    });
    let interim = 0;
    outgoing.on('information', () => {
      interim += 1;
      if (interim > MAX_INTERIM_ANSWERS) outgoing.destroy(new EgressFailure('broken', true));
    });
    // Stays for good: an error after the answer also reaches the body's reader, and must not go unheard here.
    outgoing.on('error', reject);
    outgoing.once('close', onClose);
  });

/** RFC 9112, section 6.3: by its length, or by its last chunk. */
export const saysItsEnd = ({ headers }: IncomingMessage): boolean =>
  headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;

const keptForMs = (incoming: IncomingMessage): number => {
  const seconds = /timeout=(\d{1,6})/i.exec(String(incoming.headers['keep-alive'] ?? ''))?.[1];
  return (seconds === undefined ? DEFAULT_KEPT_FOR_MS : Number(seconds) * 1_000) - KEPT_SLACK_MS;
};
