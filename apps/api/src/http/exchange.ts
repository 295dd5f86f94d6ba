import { type IncomingMessage } from 'node:http';
import {
  type Actor,
  type CallMode,
  type Clock,
  type CommandMetadata,
  type EndSignal,
  idOf,
  type Randomness,
  type RequestId,
  timestampOf,
  type TraceContext,
  traceContextOf,
} from '#libs/domain/kernel';
import { encodeHex } from '#libs/crypto';
import { CallEnd } from '#libs/infra/runtime';
import type { PersonPrincipal, Principal } from './authenticator.port.js';
import { clientAddress } from './client-address.js';
import type { EdgeResponse } from './edge-response.js';
import type { ArgumentsFault } from './json-body.js';
import type { RouteEntry } from './route-table.js';

/** How long a judgement at the door is good for: a revoked key ends within 2 seconds (rule KEY-4). */
const ACCESS_MAX_AGE_MS = 1_000;

/** W3C Trace Context, section 3.2. */
const TRACE_HEADER = 'Traceparent';

/**
 * One request and its answer, from the first header to the access line. It is made before the router runs, so it exists
 * for every request that is HTTP at all; what the checks learn is written into it in their order.
 */
export class Exchange {
  readonly requestId: RequestId;
  readonly startedAtMs: number;
  /** Without the query, which is never logged. */
  readonly path: string;
  /** After the trusted-proxy rules; the peer's own address until they ran. */
  ip: string;
  route: RouteEntry | null = null;
  principal: Principal | null = null;
  /**
   * Judges the key and the Stop state once more, as they are now: for what happens long after the guard has judged them
   * (rule KEY-4). Nothing to judge on a public route.
   * @throws {DomainError} as an {@link Authenticator} does
   */
  stillAllowed: () => Promise<void> = () => Promise.resolve();
  /** Null where nobody has to be confirmed (any more). */
  private confirm: (() => Promise<Principal>) | null = null;
  private onConfirmedByLog: () => void = () => undefined;
  /** The API version that applies. */
  apiVersion: string;
  /** `Service-On-Behalf-Of` and `Service-Session`, well-formed; null when absent. */
  onBehalfOf: string | null = null;
  session: string | null = null;
  /** Well-formed; null when absent, and on methods and routes that do not use it. */
  idempotencyKey: string | null = null;
  /** The body as it was sent. Empty when the request has none. */
  body: Uint8Array = new Uint8Array();
  /** Why the member `args` of the body was refused by the strict parser, where the handler is to judge that: it is left out. */
  argumentsFault: ArgumentsFault | null = null;
  /** The action that the request is about, for the access line. */
  actionId = '';
  isIdempotentReplay = false;
  /** The action that this request made, for the meter. `toolMs`: what its tool took; null until the answer is sealed. */
  submission: { readonly mode: CallMode; readonly toolMs: number | null } | null = null;
  /** The client sent `Expect: 100-continue` and holds its body back until it is asked for. */
  awaitsContinue = false;
  private knownTrace: TraceContext | null | undefined;
  private rawAnswer: number | null = null;
  private mintedCommandId: string | null = null;
  private sentHeaders: ReadonlyMap<string, readonly string[]> | null = null;
  private readonly goneAway = new CallEnd();
  private readonly noMoreWaits = new CallEnd();

  constructor(
    readonly request: IncomingMessage,
    readonly response: EdgeResponse,
    private readonly sources: { readonly clock: Clock; readonly randomness: Randomness },
    latestVersion: string,
  ) {
    this.requestId = idOf('req', sources.randomness.bytes(16));
    this.startedAtMs = sources.clock.monotonicMs();
    this.path = pathOf(request.url ?? '');
    this.ip = clientAddress(request.socket.remoteAddress);
    this.apiVersion = latestVersion;
    response.once('close', () => {
      if (!response.writableFinished) this.leave();
    });
  }

  /** Status of an answer that was written to the raw socket, past the response; null when there was none. */
  get rawStatus(): number | null {
    return this.rawAnswer;
  }

  /**
   * Call it when such an answer is written. Nobody waits for what still comes of the request, and nothing may come of
   * it.
   */
  answeredPastResponse(status: number): void {
    this.rawAnswer = status;
    this.leave();
  }

  /** Of the header `traceparent`: what is done for the caller belongs to it. Null where it told none that can be gone on with. */
  get trace(): TraceContext | null {
    if (this.knownTrace === undefined) this.knownTrace = traceContextOf(this.headerValues(TRACE_HEADER));
    return this.knownTrace;
  }

  /** Since its headers were there. */
  get ageMs(): number {
    return this.sources.clock.monotonicMs() - this.startedAtMs;
  }

  /** The judgement at the door still holds. */
  get isFresh(): boolean {
    return this.ageMs <= ACCESS_MAX_AGE_MS;
  }

  /**
   * {@link stillAllowed}, where the caller was judged some time ago.
   * @throws {DomainError}
   */
  async stillAllowedIfOld(): Promise<void> {
    if (this.isFresh) return;
    await (this.isCallerConfirmed ? this.stillAllowed() : this.confirmCaller());
  }

  /**
   * The guard has let the caller in by what this process remembers alone.
   * @param confirm judges again, as the store now says
   * @param onConfirmedByLog called when the store confirms the caller in the other way: {@link callerWasConfirmed}
   */
  letInUnconfirmed(confirm: () => Promise<Principal>, onConfirmedByLog: () => void): void {
    this.confirm = confirm;
    this.onConfirmedByLog = onConfirmedByLog;
  }

  /**
   * False until the store has confirmed the caller: by an answer, or by an append that required the caller to stand as
   * judged.
   */
  get isCallerConfirmed(): boolean {
    return this.confirm === null;
  }

  /**
   * Stands before every answer to a caller who is not confirmed. A caller who was shut out meanwhile is told so, and
   * nothing else.
   * @throws {DomainError} as an {@link Authenticator} does, and insufficient_scope
   */
  async confirmCaller(): Promise<void> {
    const { confirm } = this;
    if (confirm === null) return;
    try {
      this.principal = await confirm();
    } catch (error) {
      this.principal = null;
      throw error;
    }
    this.confirm = null;
  }

  /** The store took an append that required the caller to stand as judged. */
  callerWasConfirmed(): void {
    if (this.confirm !== null) this.onConfirmedByLog();
    this.confirm = null;
  }

  /** Every value of a header in the order sent. Node's own `headers` keeps one or joins them, so `sent once` needs this. */
  headerValues(name: string): readonly string[] {
    this.sentHeaders ??= valuesByName(this.request.rawHeaders);
    return this.sentHeaders.get(name.toLowerCase()) ?? NOT_SENT;
  }

  /**
   * The id by which a retry of this request is recognised: minted with the row of its Idempotency-Key where there is one,
   * so that every try of the same request has the same id.
   */
  get commandId(): string {
    this.mintedCommandId ??= encodeHex(this.sources.randomness.bytes(16));
    return this.mintedCommandId;
  }

  adoptCommandId(commandId: string): void {
    this.mintedCommandId = commandId;
  }

  /** For routes that are not public: the guard has put a principal here before any handler runs. */
  get caller(): Principal {
    if (this.principal === null)
      throw new Error(`${this.route?.handler ?? 'a handler'} asks for the caller of a public route`);
    return this.principal;
  }

  /** The session of the person who calls. Only on routes for sessions alone. */
  get person(): PersonPrincipal {
    const { caller } = this;
    if (caller.kind !== 'person') throw new Error(`${this.route?.handler ?? 'a handler'} is not for sessions alone`);
    return caller;
  }

  /**
   * Who acts, in one string, the same after a key was rolled: the agent, the first of the admin keys, or the person
   * (rule KEY-5). Idempotency keys and cursors are bound to it.
   */
  get principalRef(): string {
    const caller = this.caller;
    switch (caller.kind) {
      case 'agent':
        return caller.agent;
      case 'admin_key':
        return caller.lineage;
      case 'person':
        return caller.user;
    }
  }

  commandMetadata(): CommandMetadata {
    return {
      org: this.caller.org,
      actor: actorOf(this.caller),
      requestId: this.requestId,
      commandId: this.commandId,
      now: timestampOf(this.sources.clock.nowMs()),
    };
  }

  /** Aborted when the client went away before its answer was written, or was answered past the response. */
  get clientGone(): EndSignal {
    return this.goneAway;
  }

  /** Aborted when it is time to answer with what there is: the client went away, or the service drains. */
  get waitingOver(): EndSignal {
    return this.noMoreWaits;
  }

  endWaits(): void {
    this.noMoreWaits.abort();
  }

  private leave(): void {
    this.goneAway.abort();
    this.noMoreWaits.abort();
  }
}

const actorOf = (principal: Principal): Actor => {
  switch (principal.kind) {
    case 'agent':
      return { type: 'agent', id: principal.agent };
    case 'admin_key':
      return { type: 'admin_key', id: principal.key };
    case 'person':
      return { type: 'user', id: principal.user };
  }
};

const NOT_SENT: readonly string[] = [];

/** By name in lower case, in the order sent. */
const valuesByName = (raw: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const values = new Map<string, string[]>();
  for (let index = 0; index < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    const value = raw[index + 1] as string;
    const earlier = values.get(name);
    if (earlier) earlier.push(value);
    else values.set(name, [value]);
  }
  return values;
};

/** Request targets may be absolute (RFC 9112, section 3.2.2). */
const pathOf = (target: string): string => {
  const withoutQuery = target.split(/[?#]/, 1)[0] as string;
  const absolute = /^https?:\/\/[^/]*(\/.*)?$/i.exec(withoutQuery);
  return absolute ? (absolute[1] ?? '/') : withoutQuery;
};

/**
 * The exchange stands on the request itself. A `WeakMap` would hold every exchange, and through it the request, until
 * the next full mark: the scavenger treats the values of a weak map as alive, whatever has become of their keys.
 */
const EXCHANGE = Symbol('exchange');

interface OfAnExchange extends IncomingMessage {
  [EXCHANGE]?: Exchange;
}

export const rememberExchange = (exchange: Exchange): void => {
  (exchange.request as OfAnExchange)[EXCHANGE] = exchange;
};

/** The exchange of a request that came in through the edge's server; there is no other way in. */
export const exchangeOf = (request: IncomingMessage): Exchange => {
  const exchange = (request as OfAnExchange)[EXCHANGE];
  if (!exchange) throw new Error('the request did not come in through the edge’s server');
  return exchange;
};
