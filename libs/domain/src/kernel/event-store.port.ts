import { ForeseenFault } from './foreseen-fault.js';

/**
 * The log of all facts: one total order over all streams. A fact is true when its event is here, and not before.
 * Adapters: libs/infra/src/event-store. One contract suite runs against each: test/contracts/event-store.contract.ts.
 * What is written together with an append, or on conditions, goes through another port: `CompoundAppends`.
 */

/**
 * The most bytes of one append: type, data and metadata of all its events, in UTF-8. KurrentDB's own limit is just
 * above.
 */
export const APPEND_LIMIT_BYTES = 1_000_000;

/**
 * A place in the total order. Opaque: compare, store beside a store id, never compute with it or write it into an event
 * (a migration to another store changes positions; name events by stream, revision and id instead).
 */
export type Position = bigint;

/** The position before the first event. */
export const START: Position = -1n;

/**
 * The share of the log before a position, 0 to 1. Only an estimate to show a waiting person, because positions have a
 * meaning by their order alone.
 */
export const shareOfLog = (position: Position, head: Position): number =>
  head < 1n ? 1 : Math.min(1, Math.max(0, Number(position) / Number(head)));

/**
 * The revision that the stream's last event must have, or `no_stream` if the stream must not exist. There is no 'any':
 * an append without an expectation cannot be made safe to retry.
 */
export type ExpectedRevision = number | 'no_stream';

export interface NewEvent {
  /** UUID over stream, revision and content (see `event-codec.ts`); the same for every retry of one append. */
  readonly id: string;
  readonly type: string;
  /** JSON text. Stored as text and given back byte for byte. */
  readonly data: string;
  readonly metadata: string;
}

export interface RecordedEvent extends NewEvent {
  readonly stream: string;
  /** The place in the stream: 0 for the first event, without gaps. */
  readonly revision: number;
  readonly position: Position;
}

export interface Append {
  readonly stream: string;
  readonly expectedRevision: ExpectedRevision;
  /** At least one. All or none are written. */
  readonly events: readonly NewEvent[];
}

export interface AppendResult {
  /** The revision of the append's last event; `position` is the position of that event. */
  readonly revision: number;
  readonly position: Position;
}

/** The stream is not at the expected revision. Nothing was written. */
export class RevisionConflict extends Error {
  override readonly name = 'RevisionConflict';
  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision,
  ) {
    super(`${stream} is at ${actual}, not at ${expected}`);
  }
}

/** The events of an append have more than {@link APPEND_LIMIT_BYTES}. Nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  constructor(readonly bytes: number) {
    super(`an append holds at most ${APPEND_LIMIT_BYTES} bytes, not ${bytes}`);
  }
}

/**
 * The store did not answer, or not clearly. An append may or may not have been written: send the same append again, or
 * read the stream.
 */
export class StoreUnavailable extends ForeseenFault {
  override readonly name = 'StoreUnavailable';
}

export interface ReadStreamOptions {
  /** First revision to read, inclusive. Default: 0 forwards, the last backwards. */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** The most events to return. Default: all. */
  readonly limit?: number;
  /**
   * Lets the adapter answer from its cache of events that it has appended or read, for a range (`from` and `limit`)
   * that is known to exist. Events never change, but stored rows can be tampered with, so code that verifies the log
   * leaves this out. Default: false.
   */
  readonly mayRemember?: boolean;
}

export interface SubscribeOptions {
  /** Events after this position, exclusive. */
  readonly after: Position;
  /**
   * Awaited before the next batch. If it throws, it is called again with the same batch, after a growing delay up to 5
   * s.
   */
  readonly onEvents: (events: readonly RecordedEvent[]) => Promise<void>;
  /** Called when the handler threw and when the store cannot be read; the subscription goes on by itself. */
  readonly onError: (error: unknown) => void;
  /** The most events of one batch. Default: 500. */
  readonly batchSize?: number;
  /**
   * If true, no batch ends between two events of one append, as `beginOfAppend` recognises them: for readers whose
   * results are visible after each batch. An append of more events than `batchSize` is one batch. Default: false, and
   * events that arrive from the store one by one are handed on one by one.
   */
  readonly inWholeAppends?: boolean;
  /** How long to wait after a wake-up before reading, so that a busy time gives few large batches. Default: 0. */
  readonly lingerMs?: number;
}

export interface Subscription {
  /** The position of the last event that the handler has processed. */
  readonly position: Position;
  /** Ends the wait of `lingerMs` early, because somebody waits for the next batch. */
  hurry(): void;
  /** Ends the subscription after the batch under way. */
  close(): Promise<void>;
}

export abstract class EventStore {
  /** A random id that the store gets when it is created. A position that was saved under another store id is void. */
  abstract storeId(): Promise<string>;

  /**
   * Idempotent by (stream, expected revision, ids): a repeated append returns the result of the first one.
   * @throws {RevisionConflict} when the stream is at another revision, or has other events at these revisions
   * @throws {AppendTooLarge} when the events have more than {@link APPEND_LIMIT_BYTES}
   * @throws {StoreUnavailable} when it is unclear whether the events were written: repeat the very same append
   */
  abstract append(append: Append): Promise<AppendResult>;

  /** The events in order of revision (or backwards). Empty if the stream does not exist. */
  abstract readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]>;

  /**
   * The last revision of each stream that exists, each as of a moment no earlier than the call. It is always the last
   * event of an append, never one in the middle. Streams that do not exist are absent.
   */
  abstract heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /** The position of the last event, {@link START} if there is none. */
  abstract head(): Promise<Position>;

  /**
   * The events after a position, exclusive, in order. An event committed late is never skipped. If fewer than `limit`
   * are returned, they reach to the end of the log, and the last append among them is complete.
   *
   * @param after {@link START}, the position of an event, or the position before one
   */
  abstract readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;

  /**
   * Whether nothing is known to be missing between two positions, the second of which was read right after the first.
   * A store without gaps between its positions knows of every missing event; any other knows of none.
   */
  abstract isNext(end: Position, position: Position): boolean;

  /**
   * Delivers all events after a position and then each new one, also across restarts of the server. No event is
   * skipped; a batch is repeated if its handler failed.
   */
  abstract subscribeToAll(options: SubscribeOptions): Subscription;

  /**
   * Checks, without writing anything, that the store answers and would accept an append of this process.
   * @throws {StoreUnavailable} when it does not; the message says why
   */
  abstract requireUsable(): Promise<void>;
}

/** What this process has seen of the log, without asking the store. */
export abstract class SeenHeads {
  /**
   * The last revisions that this process knows of. They are never beyond what `EventStore.heads` would answer, and
   * often behind it. One may be in the middle of an append, and a stream of which this process has seen no event is
   * absent. Use them only for facts that never change once they are recorded.
   */
  abstract seenHeads(streams: readonly string[]): ReadonlyMap<string, number>;
}
