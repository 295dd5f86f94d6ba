import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import {
  type Accompany,
  type Append,
  type AppendResult,
  type Bus,
  type Clock,
  EventStore,
  type Position,
  type Randomness,
  type ReadStreamOptions,
  recordedAt,
  type RecordedEvent,
  START,
  type SeenHeads,
  type StoreUnavailable,
  type SubscribeOptions,
  type Subscription,
} from '#libs/domain/kernel';
import { createDurablePool, isPassing, textArray, translateDatabaseError, WriteDoubt } from '../../postgres/index.js';
import { SystemClock, SystemRandomness } from '../../runtime/index.js';
import { AccompanyingParty } from '../accompanying-party.js';
import { AppendBell } from '../append-bell.js';
import { isSendable } from '../append-rules.js';
import { GatheredHeads } from '../gathered-heads.js';
import { LogSubscription } from '../log-subscription.js';
import { isNextOfGapless, type LogReader, RecentEvents } from '../recent-events.js';
import { SharedBell } from '../shared-bell.js';
import { STORE_DEADLINE_MS } from '../store-deadline.js';
import { storeIdOf } from '../store-id.js';
import type { AppendInCommit, TransactionalStore } from '../transactional-appends.js';
import type { AppendFunctions } from './append-functions.js';
import type { Departure } from './append-statement.js';
import { CoalescingAppender, recordedAfter } from './coalescing-appender.js';
import { SeenLog } from './seen-log.js';

export interface PostgresEventStoreOptions {
  /** A connection string of a database in which the schema `event_store` is installed. */
  readonly connectionString: string;
  readonly applicationName: string;
  /** Called when an idle connection was lost; the store replaces it by itself. */
  readonly onConnectionLost: (error: Error) => void;
  /**
   * Shared with the process's other connections. Default: its own, and then every call fails if the log went back in
   * time.
   */
  readonly seenLog?: SeenLog;
  /**
   * Shared with the process's other connections, because a row may be refused before an append is. Default: its own.
   */
  readonly doubt?: WriteDoubt;
  /**
   * What writes payloads and companions in the commit of an append, if it is installed in the same database. Default:
   * none, so that appends have neither.
   */
  readonly functions?: AppendFunctions;
  /** How long one call is retried while the server does not answer. Default 5 s. */
  readonly deadlineMs?: number;
  /** How often a subscription reads the log in case other processes have appended. Default 200 ms. */
  readonly pollIntervalMs?: number;
  /** The most connections for reading, besides the one for appending. Default 4. */
  readonly maxReadConnections?: number;
  readonly clock?: Clock;
  readonly randomness?: Randomness;
}

const POLL_INTERVAL_MS = 200;
const MAX_READ_CONNECTIONS = 4;
/** The time limit of one try of an append; a hung server costs this much before the next connection is tried. */
const ATTEMPT_TIMEOUT_MS = 2_000;
const PAGE_SIZE = 1_000;
const FIRST_RETRY_MS = 10;
const LONGEST_RETRY_MS = 250;

interface EventRow {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

const COLUMNS = 'position, stream, revision, id, type, data, metadata';

const FORWARDS = {
  name: 'event_store_forwards',
  text: `select ${COLUMNS} from event_store.events where stream = $1 and revision >= $2 order by revision limit $3`,
} as const;

const BACKWARDS = {
  name: 'event_store_backwards',
  text: `select ${COLUMNS} from event_store.events where stream = $1 and revision <= $2 order by revision desc limit $3`,
} as const;

const ALL = {
  name: 'event_store_all',
  text: `select ${COLUMNS} from event_store.events where position > $1 order by position limit $2`,
} as const;

const HEADS = {
  name: 'event_store_heads',
  text: `select asked.stream, last.revision from unnest($1::text[]) as asked (stream)
    cross join lateral (select revision from event_store.events e
      where e.stream = asked.stream order by revision desc limit 1) as last`,
} as const;

const HEAD = {
  name: 'event_store_head',
  text: 'select position from event_store.events order by position desc limit 1',
} as const;

/** The log in PostgreSQL tables: positions without gaps, in order of commit (docs/adr/0003). */
export class PostgresEventStore extends EventStore implements TransactionalStore, SeenHeads {
  private readonly appendPool: pg.Pool;
  private readonly readPool: pg.Pool;
  private readonly bell = new AppendBell();
  private shared: SharedBell | null = null;
  private readonly readers = new Set<LogReader>();
  private readonly recent = new RecentEvents(isNextOfGapless, this.readers);
  private readonly headsOf = new GatheredHeads((streams) => this.readHeads(streams));
  private readonly appender: CoalescingAppender;
  private readonly deadlineMs: number;
  private knownStoreId: string | null = null;
  private readonly party = new AccompanyingParty();
  private readonly seen: SeenLog;
  private readonly doubt: WriteDoubt;
  private trial: Promise<void> | null = null;

  constructor(private readonly options: PostgresEventStoreOptions) {
    super();
    this.deadlineMs = options.deadlineMs ?? STORE_DEADLINE_MS;
    this.doubt = options.doubt ?? new WriteDoubt();
    this.seen = options.seenLog ?? new SeenLog(() => undefined);
    const common = {
      connectionString: options.connectionString,
      onError: options.onConnectionLost,
      verify: this.seen.verify,
    };
    this.appendPool = createDurablePool({
      ...common,
      applicationName: `${options.applicationName} append`,
      maxConnections: 1,
      statementTimeoutMs: Math.min(ATTEMPT_TIMEOUT_MS, this.deadlineMs),
    });
    this.readPool = createDurablePool({
      ...common,
      applicationName: `${options.applicationName} read`,
      maxConnections: options.maxReadConnections ?? MAX_READ_CONNECTIONS,
      statementTimeoutMs: this.deadlineMs,
      plansOnce: true,
    });
    this.appender = new CoalescingAppender(
      this.appendPool,
      { deadlineMs: this.deadlineMs, functions: options.functions ?? null },
      {
        onDeparture: (appends) => this.onDeparture(appends),
        onFailed: () => this.doubt.raise(),
        onAnswered: ({ events, found }) => {
          this.seen.see(found);
          this.recent.add(events);
          this.bell.ring();
          this.shared?.ring();
        },
      },
    );
  }

  accompany(accompany: Accompany, onError: (error: unknown) => void): () => void {
    return this.options.functions === undefined ? () => undefined : this.party.join(accompany, onError);
  }

  isNext(end: Position, position: Position): boolean {
    return isNextOfGapless(end, position);
  }

  async storeId(): Promise<string> {
    const { clock = new SystemClock(), randomness = new SystemRandomness() } = this.options;
    return (this.knownStoreId ??= await storeIdOf(this, clock, randomness));
  }

  async append(append: AppendInCommit): Promise<AppendResult> {
    return this.appender.append(append);
  }

  async readStream(stream: string, options: ReadStreamOptions = {}): Promise<readonly RecordedEvent[]> {
    const isBackwards = options.direction === 'backwards';
    if (options.mayRemember && !isBackwards && options.limit !== undefined) {
      const known = this.recent.ofStream(stream, options.from ?? 0, options.limit);
      if (known) return known;
    }
    const query = isBackwards ? BACKWARDS : FORWARDS;
    const step = isBackwards ? -1 : 1;
    let next = options.from ?? (isBackwards ? Number.MAX_SAFE_INTEGER : 0);
    let missing = options.limit ?? Number.MAX_SAFE_INTEGER;
    const events: RecordedEvent[] = [];
    for (let page = PAGE_SIZE; page === PAGE_SIZE && missing > 0;) {
      const rows = await this.read<EventRow>(query, [stream, next, Math.min(PAGE_SIZE, missing)]);
      for (const row of rows) events.push(recordedEventOf(row));
      page = rows.length;
      missing -= page;
      next = (events.at(-1)?.revision ?? next) + step;
    }
    return this.seen.see(events);
  }

  /**
   * Lets this process ring the bus when it has appended, and read the log when another process rings. Without the bus,
   * and if a message is lost, each process finds by polling what others appended.
   */
  tellOn(bus: Bus): void {
    this.shared = new SharedBell(bus, () => this.bell.ring());
  }

  heads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return this.headsOf.of(streams);
  }

  seenHeads(streams: readonly string[]): ReadonlyMap<string, number> {
    return this.recent.headsOf(streams);
  }

  async head(): Promise<Position> {
    const [row] = await this.read<{ position: string }>(HEAD, []);
    return row ? BigInt(row.position) : START;
  }

  /**
   * If an append was refused, or a row that is written before an append, every caller of this method tries an append
   * that is rolled back, until one succeeds. For a long time there may be no other append, because a failing health
   * check keeps callers away.
   */
  async requireUsable(): Promise<void> {
    await this.head();
    if (!this.doubt.isRaised) return;
    this.trial ??= this.appender.requireAppends().finally(() => (this.trial = null));
    await this.trial;
    this.doubt.settle();
  }

  async readAll(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    return this.seen.see((await this.read<EventRow>(ALL, [after, limit])).map(recordedEventOf));
  }

  subscribeToAll(options: SubscribeOptions): Subscription {
    return new LogSubscription(
      {
        readAll: (after, limit) => this.follow(after, limit),
        bell: this.bell,
        isNext: isNextOfGapless,
        readers: this.readers,
        pollIntervalMs: this.options.pollIntervalMs ?? POLL_INTERVAL_MS,
      },
      options,
    );
  }

  /** Waits for appends under way, then closes the connections. Callers must have closed their subscriptions before. */
  async close(): Promise<void> {
    await this.appender.close();
    this.shared?.close();
    await Promise.all([this.appendPool.end(), this.readPool.end()]);
  }

  private onDeparture(appends: readonly Append[]): Departure | null {
    const head = this.recent.end;
    if (!this.party.isThere || head === null) return null;
    const events = recordedAfter(head, appends);
    const companions = this.party.companionsOf({
      events,
      since: (position) => this.recent.since(position),
      beginningOf: (stream, count) => (count === 0 ? [] : this.recent.ofStream(stream, 0, count)),
    });
    if (companions === null || companions.appends.every(isSendable)) return { head, events, companions };
    companions.ended('left_out');
    return { head, events, companions: null };
  }

  /** Events that this process has just appended are not read again; the rest of the log is read. */
  private async follow(after: Position, limit: number): Promise<readonly RecordedEvent[]> {
    const known = this.recent.after(after, limit);
    if (known.length > 0) return known;
    const events = await this.readAll(after, limit);
    // A short page reaches the end of the log. The pages of a long catch-up are not recent, so they are not kept.
    if (events.length < limit) this.recent.add(events);
    return events;
  }

  private async readHeads(streams: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.read<{ stream: string; revision: string }>(HEADS, [textArray(streams)]);
    return new Map(rows.map(({ stream, revision }) => [stream, Number(revision)]));
  }

  /**
   * A read is repeated until the deadline: after a restart of the server, its first failure only means that the
   * connection was old.
   */
  private async read<Row extends pg.QueryResultRow>(
    query: { readonly name: string; readonly text: string },
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    const startedAt = performance.now();
    for (let waitMs = FIRST_RETRY_MS; ; waitMs = Math.min(2 * waitMs, LONGEST_RETRY_MS)) {
      try {
        return (await this.readPool.query<Row>({ values: [...values], ...query })).rows;
      } catch (error) {
        const leftMs = this.deadlineMs - (performance.now() - startedAt);
        if (!isPassing(error)) throw error;
        if (leftMs <= waitMs) throw unavailable(error);
        await delay(waitMs);
      }
    }
  }
}

const unavailable = (error: unknown): StoreUnavailable => translateDatabaseError(error) as StoreUnavailable;

const recordedEventOf = (row: EventRow): RecordedEvent =>
  recordedAt(row, row.stream, Number(row.revision), BigInt(row.position));
