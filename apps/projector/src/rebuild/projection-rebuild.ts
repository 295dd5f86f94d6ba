import type { DataSource } from 'typeorm';
import { START, type EventStore, type Position, type RecordedEvent } from '#libs/domain/kernel';
import { sqlStateOf } from '#libs/infra/postgres';
import { ProjectionDatabase, ReplacementTables, type ProjectionIdentity } from '#libs/infra/read-models';
import { readableEvents, type ProjectedRows, type Projection } from '../projection.js';
import { LateRows } from './late-rows.js';
import { READ_ONCE } from './read-once.js';

const PAGE_EVENTS = 4_000;
/** A reader that holds a live table makes the swap wait for a second each time, and gives the readers behind it a turn. */
const SWAP_ATTEMPTS = 60;
const LOCK_NOT_AVAILABLE = '55P03';

export interface RebuildParts {
  readonly store: EventStore;
  readonly source: DataSource;
  /** Read, folded and written at a time. Default 4,000. */
  readonly pageEvents?: number;
  /** Once aborted, the rebuild is given up with its reason as soon as what is under way has ended. */
  readonly interrupted?: AbortSignal;
}

/** Told after every page. */
export type OnRebuilding = (events: number, position: Position) => void;

export interface Rebuilt {
  /** Read of the log, of whatever category. */
  readonly events: number;
  readonly position: Position;
}

/**
 * Makes the rows of one projection anew from the log, beside those that lists go on reading, and then puts them in their
 * place. The projection that runs meanwhile goes on, and after the swap resumes from the new rows.
 */
export class ProjectionRebuild {
  private readonly database: ProjectionDatabase;
  private readonly tables: ReplacementTables;
  private readonly pageEvents: number;
  private position = START;
  private events = 0;

  constructor(
    private readonly projection: Projection,
    private readonly parts: RebuildParts,
    private readonly onRebuilding: OnRebuilding,
  ) {
    this.database = new ProjectionDatabase(parts.source);
    this.tables = new ReplacementTables(parts.source, projection.rowTypes);
    this.pageEvents = parts.pageEvents ?? PAGE_EVENTS;
  }

  /**
   * The live rows are as they were whenever this throws.
   * @throws {OtherIdentity} @throws {UnreadableEvent} @throws {StoreUnavailable}
   */
  async run(): Promise<Rebuilt> {
    const { name, version, rowTypes } = this.projection;
    const identity = { name, version, rowTypes, storeId: await this.parts.store.storeId() };
    await this.database.requireSame(identity);
    this.mayGoOn();
    await this.tables.create();
    try {
      await this.fold();
      this.mayGoOn();
      await this.tables.makeIndexes();
      await this.swap(identity);
    } catch (error) {
      await this.tables.drop();
      throw error;
    }
    return { events: this.events, position: this.position };
  }

  /**
   * To the end of the log, or near it where it keeps growing. A page is folded while the next is read and the one before is
   * written.
   */
  private async fold(): Promise<void> {
    const rows = new LateRows(this.tables);
    try {
      for await (const page of this.pages()) {
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

  private async *pages(): AsyncGenerator<readonly RecordedEvent[]> {
    let next = this.pageAfter(this.position);
    for (;;) {
      const page = await next;
      const last = page.at(-1);
      if (!last) return;
      next = page.length === this.pageEvents ? this.pageAfter(last.position) : Promise.resolve([]);
      // It shows when it is asked for.
      next.catch(() => undefined);
      yield page;
    }
  }

  private async swap(identity: ProjectionIdentity): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      // What arrived meanwhile, so that the live projection waits for little.
      await this.fold();
      this.mayGoOn();
      try {
        let [reached, read] = [this.position, 0];
        await this.database.replace(identity, this.tables, async (rows, upTo) => {
          [reached, read] = await this.catchUp(rows, upTo);
          return reached;
        });
        this.moveTo(reached, read);
        return;
      } catch (error) {
        if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE || attempt === SWAP_ATTEMPTS) throw error;
      }
    }
  }

  private async catchUp(rows: ProjectedRows, upTo: Position): Promise<[reached: Position, read: number]> {
    let [reached, read] = [this.position, 0];
    while (reached < upTo) {
      const page = await this.pageAfter(reached);
      const last = page.at(-1);
      if (!last) break;
      await this.project(page, rows);
      reached = last.position;
      read += page.length;
    }
    return [reached, read];
  }

  private async project(page: readonly RecordedEvent[], rows: ProjectedRows): Promise<void> {
    const { events, unreadable } = readableEvents(this.projection, page, READ_ONCE);
    if (unreadable) throw unreadable;
    if (events.length > 0) await this.projection.project(events, rows);
  }

  private pageAfter(position: Position): Promise<readonly RecordedEvent[]> {
    return this.parts.store.readAll(position, this.pageEvents);
  }

  /** @throws the reason of the interruption */
  private mayGoOn(): void {
    this.parts.interrupted?.throwIfAborted();
  }

  private moveTo(position: Position, read: number): void {
    this.position = position;
    this.events += read;
    this.onRebuilding(this.events, position);
  }
}
