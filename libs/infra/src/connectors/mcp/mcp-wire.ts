import { setTimeout as sleep } from 'node:timers/promises';

import { canonicalBytes, type JsonObject } from '#libs/crypto';
import type { LiveConnector } from '#libs/domain/connectors';
import { mcpConfigOf } from '#libs/domain/connectors/mcp';
import { type Clock, type EndSignal, type ErrorCode, RPC_CODE } from '#libs/domain/kernel';
import { type EgressDoor, EgressFailure, type EgressResponse, type EgressStream } from '#libs/infra/egress';
import { CallEnd, GrowingBuffer } from '#libs/infra/runtime';

import { ANSWER_MAX_BYTES, MessageRoom } from './large-messages.js';
import type { McpCredential } from './mcp-credential.js';
import { readMessages, type RpcError, type RpcMessage, UnreadableAnswer } from './rpc-message.js';
import { streamEvents } from './stream-events.js';

/** What all requests to one server, for one call, list or test, have in common. */
export interface McpLine {
  readonly connector: LiveConnector;
  readonly credential: McpCredential;
  /** On the kernel's monotonic clock; each request has its own limit besides. */
  readonly deadlineMonotonicMs: number;
  /** Asked before the first byte of each request but the one that calls the tool. */
  readonly mayPrepare: () => Promise<ErrorCode | null>;
}

/** One JSON-RPC message of ours. Without `id` it is a notification. */
export interface RpcRequest {
  readonly message: JsonObject;
  /** Those of the protocol revision. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Of a handshake revision: the server may ask something on the stream, and the stream can be taken up again. */
  readonly isLegacy: boolean;
  /** In place of `mayPrepare`. */
  readonly mayStillSend?: () => Promise<ErrorCode | null>;
}

/** What an HTTP answer said. */
export type RpcReply =
  | {
      readonly kind: 'result';
      readonly result: JsonObject;
      readonly hasLargeIntegers: boolean;
      readonly headers: EgressResponse['headers'];
    }
  | { readonly kind: 'error'; readonly error: RpcError }
  /** A status that is no success, with its whole body; and the error in it, where it is JSON-RPC. */
  | { readonly kind: 'refused'; readonly response: EgressResponse; readonly error: RpcError | null }
  /** Taken, and nothing said: what a notification gets. */
  | { readonly kind: 'accepted' };

const USER_AGENT = 'Service-Connectors/1.0';
const RESUMED_MAX = 10;
const RETRY_DEFAULT_MS = 1_000;
const RETRY_MAX_MS = 10_000;
/** Of one stream: nobody needs more, and each is a request of ours. */
const ANSWERED_REQUESTS_MAX = 16;
/** Of a request whose answer nobody waits for. */
const ASIDE_TIMEOUT_MS = 5_000;

/** JSON-RPC messages to an MCP server over Streamable HTTP, each byte of them through the egress door. */
export class McpWire {
  constructor(
    private readonly door: Pick<EgressDoor, 'stream'>,
    private readonly clock: Pick<Clock, 'monotonicMs'>,
  ) {}

  /**
   * @throws {EgressFailure} no whole answer came
   * @throws {UnreadableAnswer} what came is not what the protocol has there
   */
  ask(line: McpLine, request: RpcRequest): Promise<RpcReply> {
    return this.inTime(line, async (signal) => {
      const stream = await this.post(line, request, signal);
      const { status } = stream;
      if (status < 200 || status > 299) return refusedReply(await wholeAnswer(stream));
      const type = mediaTypeOf(stream);
      if (request.message['id'] === undefined || status === 202 || status === 204) {
        stream.close();
        return { kind: 'accepted' };
      }
      if (!stream.isDecoded || (type !== 'application/json' && type !== 'text/event-stream')) {
        stream.close();
        throw new UnreadableAnswer(`the answer is neither JSON nor an event stream`);
      }
      if (type === 'text/event-stream') return this.fromStream({ line, request, signal }, stream);
      const { body, headers } = await wholeAnswer(stream);
      const { messages, hasLargeIntegers } = await readMessages(body as Buffer);
      const reply = replyIn(messages, request, true);
      if (reply === null) throw new UnreadableAnswer('the answer is to another request');
      return reply.kind === 'result' ? { ...reply, hasLargeIntegers, headers } : reply;
    });
  }

  /** Ends a session: a request without a body, and an answer that nobody needs. */
  async end(line: McpLine, headers: RpcRequest['headers']): Promise<void> {
    await this.inTime(line, async (signal) => {
      const stream = await this.send(line, { method: 'DELETE', headers, body: null, signal });
      stream.close();
    });
  }

  private post(
    line: McpLine,
    { message, headers, mayStillSend }: RpcRequest,
    signal: EndSignal,
  ): Promise<EgressStream> {
    const own = [
      ['Content-Type', 'application/json'],
      ['Accept', 'application/json, text/event-stream'],
    ] as const;
    const body = canonicalBytes(message);
    return this.send(line, { method: 'POST', headers: [...own, ...headers], body, signal }, mayStillSend);
  }

  private send(
    { connector, credential, mayPrepare }: McpLine,
    request: Pick<RpcRequest, 'headers'> & {
      readonly method: 'POST' | 'GET' | 'DELETE';
      readonly body: Uint8Array | null;
      readonly signal: EndSignal;
    },
    mayStillSend = mayPrepare,
  ): Promise<EgressStream> {
    const { origin, pathname, search } = new URL(mcpConfigOf(connector.config).url);
    return this.door.stream({
      partition: `${connector.org}/${connector.id}`,
      origin,
      target: `${pathname}${search}`,
      method: request.method,
      headers: [['User-Agent', USER_AGENT], ...request.headers, ...credential.headers],
      body: request.body,
      maxResponseBytes: ANSWER_MAX_BYTES,
      mayStillSend,
      signal: request.signal,
    });
  }

  /** The message with the request's id, wherever in the stream it comes; what the stream says after it is not waited for. */
  private async fromStream(asked: Asked, first: EgressStream): Promise<RpcReply> {
    const { request, signal } = asked;
    const place: StreamPlace = { lastEventId: null, retryMs: RETRY_DEFAULT_MS, requests: 0 };
    let stream = first;
    for (let resumed = 0; ; resumed += 1) {
      const ended = await this.heard(asked, stream, place);
      if (!(ended instanceof EgressFailure)) return ended;
      // What only broke off after an event with an id can be asked for again: that calls nothing.
      const canResume = ended.reason === 'broken' && request.isLegacy && place.lastEventId !== null;
      if (!canResume || resumed >= RESUMED_MAX) throw ended;
      await pause(place.retryMs, signal);
      stream = await this.resumed(asked, place.lastEventId ?? '');
    }
  }

  private async resumed({ line, request, signal }: Asked, lastEventId: string): Promise<EgressStream> {
    const headers = [['Accept', 'text/event-stream'], ['Last-Event-ID', lastEventId], ...request.headers] as const;
    const stream = await this.send(line, { method: 'GET', headers, body: null, signal }).catch((error: unknown) => {
      // Whatever keeps the rest of the answer from being asked for: the call itself was sent.
      throw new EgressFailure(
        error instanceof EgressFailure && error.reason === 'timeout' ? 'timeout' : 'broken',
        true,
      );
    });
    if (stream.status === 200 && mediaTypeOf(stream) === 'text/event-stream') return stream;
    stream.close();
    throw new EgressFailure('broken', true);
  }

  /** The reply, or how the stream ended without one. */
  private async heard(
    asked: Asked,
    { pieces, headers }: EgressStream,
    place: StreamPlace,
  ): Promise<RpcReply | EgressFailure> {
    const room = new MessageRoom();
    try {
      for await (const event of streamEvents(pieces, room)) {
        if (event.kind === 'retry') {
          place.retryMs = Math.min(event.ms, RETRY_MAX_MS);
          continue;
        }
        if (event.id !== null && isHeaderText(event.id)) place.lastEventId = event.id;
        if (event.data === '') continue;
        const { messages, hasLargeIntegers } = await readMessages(Buffer.from(event.data));
        room.leave();
        const reply = replyIn(messages, asked.request, false);
        if (reply !== null) return reply.kind === 'result' ? { ...reply, hasLargeIntegers, headers } : reply;
        this.answerRequests(asked, messages, place);
      }
      return new EgressFailure('broken', true);
    } catch (error) {
      if (error instanceof EgressFailure) return error;
      throw error;
    } finally {
      room.leave();
    }
  }

  /** A server of a handshake revision may ask us something. We can do nothing for it, and say so: else it would wait. */
  private answerRequests({ line, request }: Asked, messages: readonly RpcMessage[], place: StreamPlace): void {
    if (!request.isLegacy) return;
    for (const message of messages) {
      if (message.kind !== 'request' || place.requests >= ANSWERED_REQUESTS_MAX) continue;
      place.requests += 1;
      const { id, method } = message;
      const said: JsonObject =
        method === 'ping'
          ? { jsonrpc: '2.0', id, result: {} }
          : {
              jsonrpc: '2.0',
              id,
              error: { code: RPC_CODE.methodNotFound, message: 'This client answers no such request.' },
            };
      const aside = { ...line, deadlineMonotonicMs: this.clock.monotonicMs() + ASIDE_TIMEOUT_MS };
      const answer = { message: said, headers: request.headers, isLegacy: true };
      // Beside the call: whether the server hears of it changes nothing of its outcome.
      void this.inTime(aside, async (signal) => (await this.post(aside, answer, signal)).close()).catch(
        () => undefined,
      );
    }
  }

  private async inTime<Result>(line: McpLine, work: (signal: EndSignal) => Promise<Result>): Promise<Result> {
    const { timeout_ms: ownMs } = mcpConfigOf(line.connector.config);
    const remainingMs = Math.min(ownMs, line.deadlineMonotonicMs - this.clock.monotonicMs());
    const signal = new CallEnd();
    const timer = setTimeout(() => signal.abort(), Math.max(0, remainingMs));
    if (remainingMs <= 0) signal.abort();
    try {
      return await work(signal);
    } finally {
      clearTimeout(timer);
    }
  }
}

interface Asked {
  readonly line: McpLine;
  readonly request: RpcRequest;
  readonly signal: EndSignal;
}

/** How far a stream was heard. */
interface StreamPlace {
  lastEventId: string | null;
  retryMs: number;
  /** Of the server's own, answered. */
  requests: number;
}

/** @param isWhole an error without an id is to this request: there is no other in the answer */
const replyIn = (
  messages: readonly RpcMessage[],
  { message }: RpcRequest,
  isWhole: boolean,
):
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: RpcError }
  | null => {
  for (const one of messages) {
    if (one.kind === 'answer' && one.id === message['id']) return { kind: 'result', result: one.result };
    if (one.kind === 'error' && (one.id === message['id'] || (isWhole && one.id === null))) {
      return { kind: 'error', error: one.error };
    }
  }
  return null;
};

const refusedReply = async (response: EgressResponse): Promise<RpcReply> => {
  const { body } = response;
  if (!Buffer.isBuffer(body) || body.byteLength === 0) return { kind: 'refused', response, error: null };
  try {
    const { messages } = await readMessages(body);
    const [message] = messages;
    return { kind: 'refused', response, error: message?.kind === 'error' ? message.error : null };
  } catch (error) {
    if (error instanceof UnreadableAnswer) return { kind: 'refused', response, error: null };
    throw error;
  }
};

const wholeAnswer = async ({ status, headers, isDecoded, pieces }: EgressStream): Promise<EgressResponse> => {
  const room = new MessageRoom();
  const whole = new GrowingBuffer();
  try {
    for await (const piece of pieces) {
      if (!room.fits(whole.byteLength + piece.byteLength)) throw new EgressFailure('too_large', true, { status });
      whole.append(piece);
    }
    return { status, headers, isDecoded, body: whole.bytes() };
  } finally {
    room.leave();
  }
};

const mediaTypeOf = ({ headers }: Pick<EgressStream, 'headers'>): string =>
  (headers.find(([name]) => name === 'content-type')?.[1] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

/** What may stand in a header of ours; anything else could not be sent back. */
const isHeaderText = (text: string): boolean =>
  /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && text.length <= 1_024;

/** @throws {EgressFailure} timeout */
const pause = async (ms: number, signal: EndSignal): Promise<void> => {
  const ended = new AbortController();
  const stop = () => ended.abort();
  signal.addEventListener('abort', stop);
  if (signal.aborted) stop();
  try {
    await sleep(ms, undefined, { signal: ended.signal });
  } catch (error) {
    throw new EgressFailure('timeout', true, { cause: error });
  } finally {
    signal.removeEventListener('abort', stop);
  }
};
