import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { LeaseSession } from '#libs/infra/leases';
import { answered } from '#libs/infra/postgres';
import { START, type EventStore, type Position, type RecordedEvent, type Subscription } from '#libs/domain/kernel';

/**
 * How long a batch of events is collected. If an action opens and closes within one batch, its row is never written.
 */
const LINGER_MS = 200;
const REACH_INTERVAL_MS = 20;

/** The change that an event makes to an action's row: a new row, or null to remove it. */
export interface FoldChange<Row> {
  readonly action: string;
  readonly row: Row | null;
}

/** The checkpoint after a batch: the position of its last event, and the store it belongs to. */
interface FoldedEnd {
  readonly storeId: string;
  readonly position: Position;
}

/**
 * Rows that are folded from the log. Each method is one statement and so one transaction, which also moves the
 * checkpoint.
 */
export interface FoldedRows<Row> {
  /** The name of the checkpoint in `gate.checkpoint`. */
  readonly name: 'open_executions' | 'due_actions' | 'budgets';
  /**
   * Removes the rows and their checkpoint together. With the checkpoint left, a reader would take the empty table for
   * complete.
   */
  empty(session: LeaseSession): Promise<unknown>;
  /**
   * Applies a batch and moves the checkpoint to `end`.
   * @returns the rows that the batch wrote
   */
  apply(session: LeaseSession, events: readonly RecordedEvent[], end: FoldedEnd): Promise<readonly Row[]>;
}

/** A table with one row per action that something still has to be done about. */
export interface FoldedTable<Row> {
  /** The table's name in the schema `gate`, and the name of its checkpoint. The column `action` is its key. */
  readonly name: 'open_executions' | 'due_actions';
  readonly changeIn: (recorded: RecordedEvent) => FoldChange<Row> | null;
  /**
   * The SQL that inserts rows, or replaces rows of the same actions. Its parameters begin with $5 and come from {@link
   * FoldedTable.valuesOf}.
   */
  readonly upsert: string;
  readonly valuesOf: (rows: readonly (Row & { readonly action: string; readonly position: Position })[]) => unknown[];
}

/**
 * Folds the log into rows. Rows and checkpoint change in one transaction. A checkpoint that belongs to another store,
 * or lies beyond the end of the log, is void; then the fold starts again.
 */
export class LogFold<Row> {
  constructor(
    private readonly pool: pg.Pool,
    private readonly store: EventStore,
    private readonly rows: FoldedRows<Row>,
  ) {}

  /** The position up to which the log is folded. The start of the log if the rows belong to another store. */
  async foldedUpTo(): Promise<Position> {
    const { rows } = await answered(
      this.pool.query<{ position: string }>(`select position from gate.checkpoint where name = $1 and store_id = $2`, [
        this.rows.name,
        await this.store.storeId(),
      ]),
    );
    return BigInt(rows[0]?.position ?? START);
  }

  /** Waits until the log is folded up to `position`. False on timeout. */
  async reach(position: Position, timeoutMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      if ((await this.foldedUpTo()) >= position) return true;
      if (signal.aborted) return false;
      await sleep(REACH_INTERVAL_MS);
    }
  }

  /**
   * Follows the log. The caller holds the lease, so that one process folds at a time, and all statements use the
   * session of the lease. Otherwise a late statement of a former holder could open a row again that its successor has
   * closed, and nobody would close it again.
   * @param onOpened called with rows after they are written
   */
  async follow(
    session: LeaseSession,
    onError: (error: unknown) => void,
    onOpened: (rows: readonly Row[]) => void = () => undefined,
  ): Promise<Subscription> {
    const storeId = await this.store.storeId();
    const after = await this.checkpoint(session, storeId);
    return this.store.subscribeToAll({
      after,
      lingerMs: LINGER_MS,
      batchSize: 1_000,
      onEvents: async (events) => {
        const { position } = events[events.length - 1] as RecordedEvent;
        onOpened(await answered(this.rows.apply(session, events, { storeId, position })));
      },
      onError,
    });
  }

  private async checkpoint(session: LeaseSession, storeId: string): Promise<Position> {
    const { rows } = await answered(
      session.query<{ store_id: string; position: string }>(
        `select store_id, position from gate.checkpoint where name = $1`,
        [this.rows.name],
      ),
    );
    const checkpoint = rows[0]?.store_id === storeId ? BigInt(rows[0].position) : null;
    if (checkpoint !== null && checkpoint <= (await this.store.head())) return checkpoint;
    await answered(this.rows.empty(session));
    return START;
  }
}

export const foldedTable = <Row>({ name, changeIn, upsert, valuesOf }: FoldedTable<Row>): FoldedRows<Row> => ({
  name,
  empty: (session) =>
    session.query(`with gone as (delete from gate.${name}) delete from gate.checkpoint where name = $1`, [name]),
  apply: async (session, events, { storeId, position }) => {
    const { opened, closed } = lastChanges(events, changeIn);
    await session.query(
      `with opened as (${upsert}), closed as (delete from gate.${name} where action = any($1::text[]))
       insert into gate.checkpoint (name, store_id, position) values ($2, $3, $4)
       on conflict (name) do update set store_id = excluded.store_id, position = excluded.position`,
      [closed, name, storeId, String(position), ...valuesOf(opened)],
    );
    return opened;
  },
});

/** The last change of each action in the batch, because one statement must not both write and remove a row. */
const lastChanges = <Row>(events: readonly RecordedEvent[], changeIn: FoldedTable<Row>['changeIn']) => {
  const opened = new Map<string, Row & { readonly action: string; readonly position: Position }>();
  const closed = new Set<string>();
  /**
   * Actions that were closed and opened again in this batch. They may have an older row, so a later close must remove
   * it.
   */
  const reopened = new Set<string>();
  for (const recorded of events) {
    const change = changeIn(recorded);
    if (change === null) continue;
    const { action, row } = change;
    if (row !== null) {
      if (closed.delete(action)) reopened.add(action);
      opened.set(action, { position: recorded.position, action, ...row });
    } else if (!opened.delete(action) || reopened.has(action)) closed.add(action);
  }
  return { opened: [...opened.values()], closed: [...closed] };
};
