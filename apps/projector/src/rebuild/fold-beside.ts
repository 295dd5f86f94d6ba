import type { DataSource } from 'typeorm';
import {
  readWholeAppends,
  START,
  type EventStore,
  type LogPage,
  type Position,
  type RecordedEvent,
} from '#libs/domain/kernel';
import { LogHasHole } from '#libs/infra/event-store';
import { ProjectionDatabase, ReplacementTables, type ProjectionIdentity } from '#libs/infra/read-models';
import { identityOf, readableEvents, type ProjectedRows, type Projection } from '../projection.js';
import { aboveFloor } from '../rows-above-floor.js';
import { LateRows } from './late-rows.js';
import { READ_ONCE } from './read-once.js';

const PAGE_EVENTS = 4_000;
const NOTHING: LogPage = { events: [], isLast: true };

export interface FoldParts {
  readonly store: EventStore;
  readonly source: DataSource;
  /** Read, folded and written at a time. Default 4,000. */
  readonly pageEvents?: number;
  /** Once aborted, the work is given up with its reason as soon as what is under way has ended. */
  readonly interrupted?: AbortSignal;
}

/** Told after every page. */
export type OnFolding = (events: number, position: Position) => void;

export interface Folded {
  /** Read of the log, of whatever category. */
  readonly events: number;
  /** Up to where it was read. */
  readonly position: Position;
}

/** Where the new tables are when their work is done: still beside the live ones, or in their place. */
type Whereabouts = 'beside' | 'in place';

/**
 * Makes the rows of one projection anew from the log, in tables beside those that lists go on reading. The projection that
 * runs meanwhile goes on. What the tables are made for, to take the place of the live ones or to be compared with them, is
 * the caller's, and all that a rebuild and a verification differ in: neither asks which projection it is.
 */
export class FoldBeside {
  readonly database: ProjectionDatabase;
  readonly tables: ReplacementTables;
  readonly pageEvents: number;
  /** Up to where the tables tell the log. */
  position = START;
  /** Read of the log so far, of whatever category. */
  events = 0;
  /** What is folded: without the rows that were gone when it began. */
  private kept: Projection;

  constructor(
    private readonly projection: Projection,
    private readonly parts: FoldParts,
    private readonly onFolding: OnFolding,
  ) {
    this.kept = projection;
    this.database = new ProjectionDatabase(parts.source);
    this.tables = new ReplacementTables(parts.source, projection.rowTypes);
    this.pageEvents = parts.pageEvents ?? PAGE_EVENTS;
  }

  /**
   * Makes the tables, has `work` fold the log into them and use them, and drops them, however it ends: unless they are in
   * the place of the live ones, where nothing is left to drop.
   * @throws {OtherIdentity} nothing was made; and whatever `work` throws
   */
  async run(work: (identity: ProjectionIdentity) => Promise<Whereabouts>): Promise<Folded> {
    const identity = identityOf(this.projection, await this.parts.store.storeId());
    await this.database.requireSame(identity);
    this.kept = aboveFloor(this.projection, await this.database.floorOf(identity));
    this.mayGoOn();
    await this.tables.create();
    let whereabouts: Whereabouts = 'beside';
    try {
      whereabouts = await work(identity);
    } finally {
      if (whereabouts === 'beside') await this.tables.drop();
    }
    const { events, position } = this;
    return { events, position };
  }

  /**
   * To a position, or without one to the end of the log, or near it where it keeps growing. A page is folded while the next
   * is read and the one before is written.
   * @throws {UnreadableEvent} @throws {LogHasHole} @throws {StoreUnavailable}
   */
  async fold(upTo: Position | null = null): Promise<void> {
    const rows = new LateRows(this.tables);
    try {
      for await (const page of this.pages(upTo)) {
        this.mayGoOn();
        await this.project(page, rows);
        await rows.send();
        this.moveTo(page.at(-1)?.position ?? this.position, page.length);
      }
      await rows.arrived();
    } finally {
      // Nothing writes any more when the tables are dropped.
      await Promise.allSettled([rows.arrived()]);
    }
  }

  /**
   * Folds the rest up to a position within a transaction, and answers where the rows are if that is committed.
   * @throws {UnreadableEvent} @throws {LogHasHole} @throws {StoreUnavailable}
   */
  async catchUp(rows: ProjectedRows, upTo: Position): Promise<[reached: Position, read: number]> {
    let [reached, read] = [this.position, 0];
    while (reached < upTo) {
      const { events } = await this.pageAfter(reached, upTo);
      const last = events.at(-1);
      if (!last) break;
      await this.project(events, rows);
      reached = last.position;
      read += events.length;
    }
    return [reached, read];
  }

  moveTo(position: Position, read: number): void {
    this.position = position;
    this.events += read;
    this.onFolding(this.events, position);
  }

  /** @throws the reason of the interruption */
  mayGoOn(): void {
    this.parts.interrupted?.throwIfAborted();
  }

  private async *pages(upTo: Position | null): AsyncGenerator<readonly RecordedEvent[]> {
    let next = this.pageAfter(this.position, upTo);
    for (;;) {
      const { events, isLast } = await next;
      const last = events.at(-1);
      if (!last) return;
      next = isLast ? Promise.resolve(NOTHING) : this.pageAfter(last.position, upTo);
      // It shows when it is asked for.
      next.catch(() => undefined);
      yield events;
    }
  }

  private async project(page: readonly RecordedEvent[], rows: ProjectedRows): Promise<void> {
    const { events, unreadable } = readableEvents(this.projection, page, READ_ONCE);
    if (unreadable) throw unreadable;
    if (events.length > 0) await this.kept.project(events, rows);
  }

  /** Lists may read these rows wherever the last page ends: that is between two appends, or where the live ones are. */
  private async pageAfter(after: Position, upTo: Position | null): Promise<LogPage> {
    if (upTo !== null && after >= upTo) return NOTHING;
    const { store } = this.parts;
    const page = await readWholeAppends((from, limit) => store.readAll(from, limit), after, this.pageEvents);
    requireWhole(store, page.events, after, upTo);
    if (upTo === null) return page;
    const events = page.events.filter(({ position }) => position <= upTo);
    return { events, isLast: page.isLast || events.length < page.events.length };
  }
}

/**
 * Rows of a log that lacks an event would be right about the log, and wrong about what happened. What is missing behind
 * `upTo` is no matter of these rows.
 * @throws {LogHasHole}
 */
const requireWhole = (
  store: EventStore,
  events: readonly RecordedEvent[],
  after: Position,
  upTo: Position | null,
): void => {
  let end = after;
  for (const { position } of events) {
    if (upTo !== null && end >= upTo) return;
    if (!store.isNext(end, position)) throw new LogHasHole(end + 1n, position);
    end = position;
  }
};
