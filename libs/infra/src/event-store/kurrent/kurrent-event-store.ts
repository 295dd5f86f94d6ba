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
  START,
  StoreUnavailable,
  type SubscribeOptions,
  type Subscription,
} from '#libs/domain/kernel';
import { GatheredCalls, SystemClock, SystemRandomness } from '../../runtime/index.js';
import { AppendBell } from '../append-bell.js';
import { checkAppend, expectedRevisionOf, revisionNumber } from '../append-rules.js';
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

/** One of the two ways to read of {@link KurrentConnection}. */
type Read = KurrentConnection['read'];

export interface KurrentEventStoreOptions {
  /** As `parseKurrentUrl` reads it. */
  readonly url: string;
  /** How long one call keeps trying while the server does not answer. Default 5 s. */
  readonly deadlineMs?: number | undefined;
  /** Told once when the store is away, and once (null) when it is back. */
  readonly onOutage?: (error: KurrentUnavailable | null) => void;
  /** Told that the log went back in time: all that the process remembers of it is void, and it must end. */
  readonly onWentBack?: (error: Error) => void;
  /** For a process that stays: it is told of every event from the start, which makes questions cheap. Default false. */
  readonly isLongLived?: boolean;
  /** How often a subscription looks for what it was not told of. Default 1 s. */
  readonly pollIntervalMs?: number;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

/** As the server names the whole log. */
const ALL = '$all';
const POLL_INTERVAL_MS = 1_000;
const PAGE_SIZE = 1_000;
/** The log ends with events of the server itself now and then. */
const FIRST_END_PAGE_SIZE = 16;
/** Callers that share one question for heads, and questions that are asked at once. */
const MAX_HEADS_CALLERS = 256;
/** What is told comes some milliseconds after it is answered. */
const TELLING_TIMEOUT_MS = 250;
const REFUSING_TIMEOUT_MS = 1_000;
const REFUSING_RETRY_MS = 10;
/** Beyond it the store is far behind, and waiting longer would only add to the pile. */
const MAX_WAITING_APPENDS = 20_000;

/**
 * The log in KurrentDB or EventStoreDB (docs/adr/0013). A position is that of the server's log: it rises and has gaps.
 * Everything is asked of the leader. An append that failed unclearly is followed by the very same one, at the same revision
 * with the same ids, which the server answers as it answered the first.
 */
export class KurrentEventStore extends EventStore {
  private readonly clock: Clock;
  private readonly connection: KurrentConnection;
  private readonly bell = new AppendBell();
  private readonly readers = new Set<LogReader>();
  private readonly recent = new RecentEvents(isNextInOrder, this.readers);
  private readonly tracked = new TrackedHeads();
  /** For the end of the log: where the last look back began, and what it found. What lies between is the server's own. */
  private lastLook = { begun: START, end: START };
  private readonly headsOf: GatheredCalls<readonly string[], ReadonlyMap<string, number>>;
  /** By stream, the last of the appends that wait for each other: they arrive in the order of asking. */
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
    this.headsOf = new GatheredCalls((asked) => this.readHeads(asked), { maxItems: MAX_HEADS_CALLERS });
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

  async heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const heads = await this.headsOf.of(streams);
    return new Map(streams.flatMap((stream) => (heads.has(stream) ? [[stream, heads.get(stream) as number]] : [])));
  }

  override seenHeads(streams: readonly string[]): ReadonlyMap<string, number> {
    return this.recent.headsOf(streams);
  }

  head(): Promise<Position> {
    return this.end(this.readLatest);
  }

  override async requireUsable(): Promise<void> {
    await Promise.all([this.head(), this.connection.requireAppends()]);
  }

  async readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const events: RecordedEvent[] = [];
    for (let from = after; events.length < limit;) {
      // The event at `from` comes along.
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

  /** Waits for appends under way, then lets the connection go. Subscriptions are closed first, by whoever made them. */
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
    // Of two looks at the same time, the later one tells more.
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
      // A stream that somebody deleted is not there for the server, which yet goes on with its revisions.
      if (result.revision !== first + events.length - 1) throw new MissingEvent(stream, first);
      // The same append again is answered as the first, however far the stream has gone since.
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

  /** The server forgets some of what it knew of ids: an append that stands where it was meant to is the same again. */
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
   * What stands in the place of an append that was refused. A cluster refuses by what it is about to write, too, and that is
   * not read yet: whoever decides again, having been refused, must see more than before. It may be lost with its leader.
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
      // A stream that is there ends with an event. To believe otherwise would be to take it for one that is not.
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

  /** Of whoever begins with an event, and says so by the position before. */
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

  /** What the server has sent by itself needs no reading; the rest of the log is read. */
  private async follow(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const known = this.recent.after(after, limit);
    return known.length > 0 ? known : this.readAll(after, limit);
  }

  /** The server sends events one by one. Whether those of an append are all there is told by a read, which finds all or none. */
  private async followWhole(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const known = this.recent.after(after, limit);
    const whole = known.slice(0, beginOfAppend(known, known.length - 1));
    const rest = await this.readAll(whole.at(-1)?.position ?? after, limit - whole.length);
    return [...whole, ...rest];
  }

  /** For all who ask at the same moment. */
  private async readHeads(asked: readonly (readonly string[])[]): Promise<readonly ReadonlyMap<string, number>[]> {
    const streams = [...new Set(asked.flat())];
    const known = this.tail && (await this.trackedHeads(this.tail, streams));
    const heads = new Map<string, number>();
    await Promise.all(
      streams.map(async (stream) => {
        const { head } = known?.(stream) ?? { head: await this.headOf(stream) };
        if (head !== null) heads.set(stream, head);
      }),
    );
    return asked.map(() => heads);
  }

  /**
   * One question, for the end of the log, in place of one for every stream: whoever was told of everything up to that end
   * knows where every stream stands that it watches. Null where the telling is late.
   */
  private async trackedHeads(tail: LiveTail, streams: readonly string[]) {
    const [end, known] = await Promise.all([this.head(), this.tracked.learn(streams, (stream) => this.headOf(stream))]);
    if (!(await tail.reached(end, TELLING_TIMEOUT_MS))) return null;
    const unsettled = this.tracked.unsettled;
    // Told one by one, and neither is the end a proof that the append is whole, which is read backwards: forwards all is found or none.
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
