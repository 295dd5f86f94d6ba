import type { Bus } from './bus.port.js';
import { ForeseenFault } from './foreseen-fault.js';
import type { Payload } from './payload.js';

/**
 * The log of all facts: one total order over all streams. A fact is true when its event is here, and not before.
 * Adapters: libs/infra/src/event-store. One contract suite runs against each: test/contracts/event-store.contract.ts.
 */

/** Bytes an append may hold: type, data and metadata of all its events, in UTF-8. KurrentDB's own limit is just above. */
export const APPEND_LIMIT_BYTES = 1_000_000;

/**
 * A place in the total order. Opaque: compare, store beside a store id, never compute with it or write it into an event
 * (a migration to another store changes positions; name events by stream, revision and id instead).
 */
export type Position = bigint;

/** Before the first event. */
export const START: Position = -1n;

/** Which part of a log lies before a position, 0 to 1. Positions mean nothing but their order: an estimate, for a person who waits. */
export const shareOfLog = (position: Position, head: Position): number =>
  head < 1n ? 1 : Math.min(1, Math.max(0, Number(position) / Number(head)));

/** The revision of the stream's last event, or that it must not exist. There is no 'any': an append without an expectation cannot be made safe to retry. */
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
  /** 0 for the first event of the stream, gapless. */
  readonly revision: number;
  readonly position: Position;
}

export interface Append {
  readonly stream: string;
  readonly expectedRevision: ExpectedRevision;
  /** At least one. All or none are written. */
  readonly events: readonly NewEvent[];
  /** What the events name by digest, to be stored with them: only where {@link EventStore.storesPayloads}. */
  readonly payloads?: readonly Payload[];
  /**
   * Other streams that must stand at these revisions while the events are written; otherwise nothing is written. Only
   * where {@link EventStore.canRequire}. When an append is sent again, this counts only for what is not written yet.
   */
  readonly requires?: ReadonlyMap<string, number>;
}

export interface AppendResult {
  /** Of the last event of the append. */
  readonly revision: number;
  readonly position: Position;
}

/** Appends on their way to the store in one call, and what may be asked about them while nothing can come between. */
export interface DepartingAppends {
  /** How their events will stand in the log if nobody else writes before them; in order of position. */
  readonly events: readonly RecordedEvent[];
  /** The events between a position and these; null where this process does not know all of them. */
  since(position: Position): readonly RecordedEvent[] | null;
  /** The first events of a stream that lie before them; null where this process does not know them all. */
  beginningOf(stream: string, count: number): readonly RecordedEvent[] | null;
}

/** Appends that follow others into the log, in the same commit and right behind them, or not at all. */
export interface Companions {
  /** To streams that no other append of the call is about. */
  readonly appends: readonly Append[];
  /** Streams that must stand at these revisions before the call; otherwise the companions are left out. */
  readonly requires: ReadonlyMap<string, number>;
  /** Called before those are told whose appends the companions follow. */
  readonly ended: (end: CompanionsEnd) => void;
}

/** `left_out`: certainly not written. `unclear`: they may or may not stand in the log. */
export type CompanionsEnd = 'written' | 'left_out' | 'unclear';

/**
 * Called with all appends at the moment they depart. It must not wait, since they would wait too, and must not throw.
 * Null: they go alone.
 */
export type Accompany = (departing: DepartingAppends) => Companions | null;

/** The stream has moved on. Nothing was written. */
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

/** A stream that an append required to stand still has moved on. Nothing was written. */
export class RequirementMoved extends Error {
  override readonly name = 'RequirementMoved';
  constructor(readonly stream: string) {
    super(`a stream that the append to ${stream} requires is elsewhere`);
  }
}

/** More than {@link APPEND_LIMIT_BYTES}. Nothing was written. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
  constructor(readonly bytes: number) {
    super(`an append holds at most ${APPEND_LIMIT_BYTES} bytes, not ${bytes}`);
  }
}

/** The store did not answer, or not clearly: an append may or may not have been written. Send the same append again, or read back. */
export class StoreUnavailable extends ForeseenFault {
  override readonly name = 'StoreUnavailable';
}

export interface ReadStreamOptions {
  /** First revision to read, inclusive. Default: 0 forwards, the last backwards. */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** Default: all. */
  readonly limit?: number;
  /**
   * The adapter may answer from its memory of events it has appended or read: for a range (`from` and `limit`) that is
   * known to exist. Events never change, but rows can be tampered with: whoever checks them leaves this out. Default false.
   */
  readonly mayRemember?: boolean;
}

export interface SubscribeOptions {
  /** Events after this position, exclusive. */
  readonly after: Position;
  /** Awaited before the next batch. One that throws is called again with the same batch, after a growing delay up to 5 s. */
  readonly onEvents: (events: readonly RecordedEvent[]) => Promise<void>;
  /** Told of a handler that threw and of a store that cannot be read; the subscription goes on by itself. */
  readonly onError: (error: unknown) => void;
  /** At most this many events a batch. Default 500. */
  readonly batchSize?: number;
  /**
   * No batch ends between two events of one append, as `beginOfAppend` tells them. It is for whoever shows what the
   * batches come to. An append of more events than `batchSize` is a batch by itself. Default false: a store that is
   * told of events one by one hands them on one by one.
   */
  readonly inWholeAppends?: boolean;
  /** Waits this long after a wake-up before it reads, so that a busy time gives few large batches. Default 0. */
  readonly lingerMs?: number;
}

export interface Subscription {
  /** Up to here, inclusive, the handler has succeeded. */
  readonly position: Position;
  /** Ends a linger: somebody waits for the next batch. */
  hurry(): void;
  /** Ends after the batch under way. */
  close(): Promise<void>;
}

export abstract class EventStore {
  /** Payloads lie in the same database as the events, and an append takes its own along. */
  get storesPayloads(): boolean {
    return false;
  }

  /** The next event stands at the next position, so that an event which is missing shows. Otherwise positions only rise. */
  get hasGaplessPositions(): boolean {
    return false;
  }

  /** One commit may write to several streams, so that appends can be accompanied. */
  get canAccompany(): boolean {
    return false;
  }

  /** One commit may depend on where several streams stand, so that appends can require them to stand still. */
  get canRequire(): boolean {
    return false;
  }

  /**
   * From now on companions may go with what this process appends, until the returned function is called. They are
   * written only where every append that they go with is written, and nobody else has written since this process last
   * saw the end of the log. There is one {@link Accompany} at a time; a store that cannot accompany never calls it.
   */
  accompany(_accompany: Accompany): () => void {
    return () => undefined;
  }

  /**
   * Tells the other processes of the deployment when this one has appended, and looks when they tell. It is for a store
   * whose server does not tell. Without it, and where a message is lost, each process finds by its own clock what
   * others appended.
   */
  tellOn(_bus: Bus): void {
    // A store that is told by its server needs nobody.
  }

  /** Minted when the store was made. A stored position is void under another store's id. */
  abstract storeId(): Promise<string>;

  /**
   * Idempotent by (stream, expected revision, ids): the same append again answers the first one's result.
   * @throws {RevisionConflict} the stream is elsewhere, or holds other events there
   * @throws {RequirementMoved}
   * @throws {AppendTooLarge}
   * @throws {StoreUnavailable} unclear: repeat the very same append
   */
  abstract append(append: Append): Promise<AppendResult>;

  /** In order of revision (or backwards). Empty when the stream does not exist. */
  abstract readStream(stream: string, options?: ReadStreamOptions): Promise<readonly RecordedEvent[]>;

  /**
   * The last revision of each stream that exists, each as of a moment no earlier than the call. It is always the end of
   * an append. Streams that do not exist are absent.
   */
  abstract heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>>;

  /**
   * Last revisions as far as this process has seen them by itself, without a question to the store. They are never
   * beyond what `heads` would answer, and often behind it. One may lie within an append, and a stream of which nothing
   * was seen is absent. They are for facts that do not change once they are there.
   */
  seenHeads(_streams: readonly string[]): ReadonlyMap<string, number> {
    return new Map();
  }

  /** Position of the last event, {@link START} when there is none. */
  abstract head(): Promise<Position>;

  /**
   * Checks that the store answers, and would take an append of this process. Writes nothing.
   * @throws {StoreUnavailable} why not
   */
  async requireUsable(): Promise<void> {
    await this.head();
  }

  /**
   * Events after a position, exclusive, in order. An event committed late is never skipped. Where fewer than `limit`
   * are given, these are all there are, and the last append among them is there in full.
   *
   * @param after {@link START}, the position of an event, or the one before it
   */
  abstract readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]>;

  /** Catches up, then follows, across restarts of the server. Never skips, may repeat after a handler failed. */
  abstract subscribeToAll(options: SubscribeOptions): Subscription;
}
