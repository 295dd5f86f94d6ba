import { setTimeout as delay } from 'node:timers/promises';
import type { AppendExpectedRevision, RecordedEvent as KurrentEvent } from '@eventstore/db-client';
import {
  type Append,
  type AppendResult,
  AppendTooLarge,
  beginOfAppend,
  type Clock,
  EventStore,
  MissingEvent,
  type NewEvent,
  type Position,
  type Randomness,
  type ReadStreamOptions,
  recordedAt,
  type RecordedEvent,
  RevisionConflict,
  type SeenHeads,
  START,
  StoreUnavailable,
  type SubscribeOptions,
  type Subscription,
} from '#libs/domain/kernel';
import { SystemClock, SystemRandomness } from '../../runtime/index.js';
import { AppendBell } from '../append-bell.js';
import { checkAppend, expectedRevisionOf, revisionNumber } from '../append-rules.js';
import { GatheredHeads } from '../gathered-heads.js';
import { LogSubscription } from '../log-subscription.js';
import { isNextInOrder, type LogReader, RecentEvents } from '../recent-events.js';
import { STORE_DEADLINE_MS } from '../store-deadline.js';
import { storeIdOf } from '../store-id.js';
import { UnknownPosition } from '../unknown-position.js';
import { KurrentConnection } from './kurrent-connection.js';
import {
  isDeletedStream,
  isMissingStream,
  isNoPosition,
  isTooLarge,
  isWrongRevision,
  type KurrentUnavailable,
} from './kurrent-failures.js';
import { LiveTail } from './live-tail.js';
import { type StreamHead, TrackedHeads } from './tracked-heads.js';
import { eventDataOf, isSystemEvent, positionOf, recordedEventOf } from './recorded-text.js';

/** `read` or `readLatest` of {@link KurrentConnection}. */
type Read = KurrentConnection['read'];

export interface KurrentEventStoreOptions {
  /** A connection string that `parseKurrentUrl` accepts. */
  readonly url: string;
  /** How long one call is retried while the server does not answer. Default 5 s. */
  readonly deadlineMs?: number | undefined;
  /** Called once when the store becomes unavailable, and once (null) when it is back. */
  readonly onOutage?: (error: KurrentUnavailable | null) => void;
  /** Called when the log went back in time: what the process has cached of it is void, and the process must end. */
  readonly onWentBack?: (error: Error) => void;
  /** For a process that keeps running: it subscribes to all events, which makes `heads` cheap. Default false. */
  readonly isLongLived?: boolean;
  /** How often a subscription reads the log in case it missed a notification. Default 1 s. */
  readonly pollIntervalMs?: number;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

/** The server's name for the whole log. */
const ALL = '$all';
const POLL_INTERVAL_MS = 1_000;
const PAGE_SIZE = 1_000;
/** Usually enough: the log ends with a few events of the server itself now and then. */
const FIRST_END_PAGE_SIZE = 16;
/** The subscription delivers an event some milliseconds after its append was answered. */
const TELLING_TIMEOUT_MS = 250;
const REFUSING_TIMEOUT_MS = 1_000;
const REFUSING_RETRY_MS = 10;
/** With more waiting appends the store is far behind, and a longer queue would only add to the delay. */
const MAX_WAITING_APPENDS = 20_000;

/**
 * The log in KurrentDB or EventStoreDB (docs/adr/0013). A position is that of the server's log: it rises and has gaps.
 * All requests go to the leader. After an unclear failure the very same append is sent again, at the same revision with
 * the same ids, and the server answers it as it answered the first one.
 */
export class KurrentEventStore extends EventStore implements SeenHeads {
  private readonly clock: Clock;
  private readonly connection: KurrentConnection;
  private readonly bell = new AppendBell();
  private readonly readers = new Set<LogReader>();
  private readonly recent = new RecentEvents(isNextInOrder, this.readers);
  private readonly tracked = new TrackedHeads();
  /** The last search for the end of the log: where it began, and what it found. Events between are the server's own. */
  private lastLook = { begun: START, end: START };
  private readonly headsOf = new GatheredHeads((streams) => this.readHeads(streams));
  /** By stream, the last append under way. The next one waits for it, so that they arrive in the order of the calls. */
  private readonly lanes = new Map<string, Promise<unknown>>();
  private waitingAppends = 0;
  private tail: LiveTail | null;
  private knownStoreId: string | null = null;
  private isClosed = false;

  constructor(private readonly options: KurrentEventStoreOptions) {
    super();
    const { url, deadlineMs = STORE_DEADLINE_MS, onOutage = () => undefined, onWentBack = () => undefined } = options;
    this.clock = options.clock ?? new SystemClock();
    this.connection = new KurrentConnection({ url, deadlineMs, onOutage, onWentBack });
    this.tail = options.isLongLived ? this.startTail() : null;
  }

  async storeId(): Promise<string> {
    const { randomness = new SystemRandomness() } = this.options;
    return (this.knownStoreId ??= await storeIdOf(this, this.clock, randomness));
  }

  async append(append: Append): Promise<AppendResult> {
    checkAppend(append);
    if (this.isClosed) throw new StoreUnavailable('the store was closed');
    if (this.waitingAppends >= MAX_WAITING_APPENDS) throw new StoreUnavailable('too many appends are waiting');
    this.waitingAppends += 1;
    const before = this.lanes.get(append.stream);
    const result = before ? before.then(() => this.write(append)) : this.write(append);
    const ended = result.catch(() => undefined);
    this.lanes.set(append.stream, ended);
    try {
      return await result;
    } finally {
      this.waitingAppends -= 1;
      if (this.lanes.get(append.stream) === ended) this.lanes.delete(append.stream);
    }
  }

  async readStream(stream: string, options: ReadStreamOptions = {}): Promise<readonly RecordedEvent[]> {
    const isBackwards = options.direction === 'backwards';
    if (options.mayRemember && !isBackwards && options.limit !== undefined) {
      const known = this.recent.ofStream(stream, options.from ?? 0, options.limit);
      if (known) return known;
    }
    let next: bigint | 'start' | 'end' = isBackwards ? 'end' : 'start';
    if (options.from !== undefined) next = BigInt(options.from);
    let missing = options.limit ?? Number.MAX_SAFE_INTEGER;
    const events: RecordedEvent[] = [];
    for (let page = PAGE_SIZE; page === PAGE_SIZE && missing > 0;) {
      const read = await this.readPage(stream, next, Math.min(PAGE_SIZE, missing), isBackwards, this.read);
      for (const event of read) events.push(recordedEventOf(event));
      page = read.length;
      missing -= page;
      const last = events.at(-1)?.revision ?? 0;
      if (isBackwards && last === 0) break;
      next = BigInt(isBackwards ? last - 1 : last + 1);
    }
    this.connection.see(events);
    return events;
  }

  heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.headsOf.of(streams);
  }

  seenHeads(streams: readonly string[]): ReadonlyMap<string, number> {
    return this.recent.headsOf(streams);
  }

  isNext(end: Position, position: Position): boolean {
    return isNextInOrder(end, position);
  }

  head(): Promise<Position> {
    return this.end(this.readLatest);
  }

  async requireUsable(): Promise<void> {
    await Promise.all([this.head(), this.connection.requireAppends()]);
  }

  async readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (let from = after; events.length < limit;) {
      // The server includes the event at `from`.
      const maxCount = limit - events.length + 1;
      const page = await this.readAllPage(from, maxCount).catch((error: unknown) => {
        if (!isNoPosition(error) || from !== after) throw error;
        return this.readAllFrom(from + 1n, maxCount);
      });
      for (const event of page) {
        if (positionOf(event) > from && !isSystemEvent(event)) events.push(recordedEventOf(event));
      }
      const last = page.at(-1);
      if (page.length < maxCount || !last) break;
      from = positionOf(last);
    }
    this.connection.see(events);
    return events.length > limit ? events.slice(0, limit) : events;
  }

  subscribeToAll(options: SubscribeOptions): Subscription {
    this.tail ??= this.startTail();
    return new LogSubscription(
      {
        readAll: (after, limit) =>
          options.inWholeAppends ? this.followWhole(after, limit) : this.follow(after, limit),
        bell: this.bell,
        isNext: isNextInOrder,
        readers: this.readers,
        pollIntervalMs: this.options.pollIntervalMs ?? POLL_INTERVAL_MS,
      },
      options,
    );
  }

  /** Waits for appends under way, then closes the connection. Callers must have closed their subscriptions before. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all(this.lanes.values());
    await this.tail?.close();
    await this.connection.close();
  }

  private readonly read: Read = (start, stream) => this.connection.read(start, stream);
  private readonly readLatest: Read = (start, stream) => this.connection.readLatest(start, stream);

  /** Position of the last event that is not the server's own. */
  private async end(read: Read): Promise<Position> {
    const { begun, end } = this.lastLook;
    let newest: Position | null = null;
    let maxCount = FIRST_END_PAGE_SIZE;
    for (let from: Position | null = null; ; maxCount = Math.min(4 * maxCount, PAGE_SIZE)) {
      const fromPosition = from === null ? 'end' : { commit: from, prepare: from };
      const page = await read(
        (client, options) => client.readAll({ direction: 'backwards', fromPosition, maxCount, ...options }),
        ALL,
      );
      newest ??= page[0] ? positionOf(page[0]) : START;
      for (const event of page) {
        from = positionOf(event);
        if (from <= begun) return this.looked(newest, end);
        if (isSystemEvent(event)) continue;
        this.connection.see([recordedEventOf(event)]);
        return this.looked(newest, from);
      }
      if (page.length < maxCount) return START;
    }
  }

  private looked(begun: Position, end: Position): Position {
    // Of two searches at the same time, the one that began later in the log counts.
    if (begun > this.lastLook.begun) this.lastLook = { begun, end };
    return end;
  }

  private async write(append: Append): Promise<AppendResult> {
    const { stream, expectedRevision, events } = append;
    try {
      const expected: AppendExpectedRevision =
        expectedRevision === 'no_stream' ? 'no_stream' : BigInt(expectedRevision);
      const toldBefore = this.tail?.toldUpTo ?? null;
      const written = this.tracked.writing(stream);
      const answer = await this.connection.append(stream, events.map(eventDataOf), expected);
      if (!answer.position) throw new TypeError('an append was answered without its position');
      const result = { revision: Number(answer.nextExpectedRevision), position: answer.position.commit };
      const first = revisionNumber(expectedRevision) + 1;
      // The server takes a deleted stream for one that does not exist, but continues its revisions.
      if (result.revision !== first + events.length - 1) throw new MissingEvent(stream, first);
      // A repeated append gets its first answer again. Only a position beyond the delivered events is surely new.
      if (toldBefore !== null && result.position > toldBefore) written(result.revision);
      this.connection.see([recordedAt(events.at(-1) as NewEvent, stream, result.revision, result.position)]);
      return result;
    } catch (error) {
      if (isTooLarge(error)) throw new AppendTooLarge(checkAppend(append));
      if (isDeletedStream(error)) throw new MissingEvent(stream, 0);
      if (!isWrongRevision(error)) throw error;
      const { actualVersion } = error;
      return await this.standing(append, typeof actualVersion === 'bigint' ? Number(actualVersion) : -1);
    }
  }

  /** The server forgets ids in time: a refused append whose events are in their place was written before. */
  private async standing(append: Append, actual: number): Promise<AppendResult> {
    const { stream, expectedRevision, events } = append;
    const from = revisionNumber(expectedRevision) + 1;
    const recorded = await this.refusing(stream, from, Math.min(actual - from + 1, events.length));
    const last = recorded.at(-1);
    if (last && recorded.length === events.length && events.every(({ id }, index) => recorded[index]?.id === id)) {
      return { revision: last.revision, position: last.position };
    }
    throw new RevisionConflict(stream, expectedRevision, expectedRevisionOf(actual));
  }

  /**
   * The events in the place of a refused append. A cluster also refuses by events that it still replicates, which
   * nobody can read yet. This waits for a while until they can be read; they are lost if their leader dies first.
   */
  private async refusing(stream: string, from: number, count: number): Promise<readonly RecordedEvent[]> {
    const startedAtMs = this.clock.monotonicMs();
    for (;;) {
      const recorded = count > 0 ? await this.readStream(stream, { from, limit: count }) : [];
      if (recorded.length >= count || this.clock.monotonicMs() - startedAtMs > REFUSING_TIMEOUT_MS) return recorded;
      await delay(REFUSING_RETRY_MS);
    }
  }

  private async readPage(
    stream: string,
    fromRevision: bigint | 'start' | 'end',
    maxCount: number,
    isBackwards: boolean,
    read: Read,
  ): Promise<readonly KurrentEvent[]> {
    const direction = isBackwards ? 'backwards' : 'forwards';
    try {
      const page = await read(
        (client, options) => client.readStream(stream, { direction, fromRevision, maxCount, ...options }),
        stream,
      );
      // A stream that exists has a last event, so an empty page must not pass for a stream that does not exist.
      if (fromRevision === 'end' && page.length === 0) throw new StoreUnavailable(`the end of ${stream} was not told`);
      return page;
    } catch (error) {
      if (isMissingStream(error)) return [];
      throw isDeletedStream(error) ? new MissingEvent(stream, 0) : error;
    }
  }

  private readAllPage(from: Position, maxCount: number): Promise<readonly KurrentEvent[]> {
    const fromPosition = from === START ? 'start' : { commit: from, prepare: from };
    return this.connection.read((client, options) => client.readAll({ fromPosition, maxCount, ...options }), ALL);
  }

  /** For a caller that gave the position before the event at `position`, to begin with that event. */
  private async readAllFrom(position: Position, maxCount: number): Promise<readonly KurrentEvent[]> {
    try {
      return await this.readAllPage(position, maxCount);
    } catch (error) {
      throw isNoPosition(error) ? new UnknownPosition(position) : error;
    }
  }

  private startTail(): LiveTail {
    return new LiveTail({
      connection: this.connection,
      head: () => this.end(this.read),
      onBegin: () => {
        this.recent.clear();
        this.tracked.clear();
      },
      onEvent: (event) => {
        this.connection.see([event]);
        this.recent.add([event]);
        this.tracked.see(event);
        this.bell.ring();
      },
    });
  }

  /** Events that the subscription has delivered are not read again; the rest of the log is read. */
  private async follow(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const known = this.recent.after(after, limit);
    return known.length > 0 ? known : this.readAll(after, limit);
  }

  /** As `follow`, in whole appends: events are sent one by one, but a read finds an append in full or not at all. */
  private async followWhole(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const known = this.recent.after(after, limit);
    const whole = known.slice(0, beginOfAppend(known, known.length - 1));
    const rest = await this.readAll(whole.at(-1)?.position ?? after, limit - whole.length);
    return [...whole, ...rest];
  }

  private async readHeads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const known = this.tail && (await this.trackedHeads(this.tail, streams));
    const heads = new Map<string, number>();
    await Promise.all(
      streams.map(async (stream) => {
        const { head } = known?.(stream) ?? { head: await this.headOf(stream) };
        if (head !== null) heads.set(stream, head);
      }),
    );
    return heads;
  }

  /**
   * Asks only for the end of the log instead of for every stream: a process that was sent every event up to that end
   * knows where each stream stands that it watches. Null if the events are late.
   */
  private async trackedHeads(tail: LiveTail, streams: readonly string[]) {
    const [end, known] = await Promise.all([this.head(), this.tracked.learn(streams, (stream) => this.headOf(stream))]);
    if (!(await tail.reached(end, TELLING_TIMEOUT_MS))) return null;
    const unsettled = this.tracked.unsettled;
    // The last append may be here in part, even by `head`, which reads backwards. A forward read finds all or none.
    if (unsettled !== null && streams.includes(unsettled.stream)) {
      this.tracked.read(await this.readStream(unsettled.stream, { from: unsettled.revision }));
    }
    return known;
  }

  private async headOf(stream: string): Promise<StreamHead> {
    const [last] = await this.readPage(stream, 'end', 1, true, this.readLatest);
    return last ? Number(last.revision) : null;
  }
}
