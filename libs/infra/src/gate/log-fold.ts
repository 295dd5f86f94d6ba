import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { LeaseSession } from '#libs/infra/leases';
import { answered } from '#libs/infra/postgres';
import { START, type EventStore, type Position, type RecordedEvent, type Subscription } from '#libs/domain/kernel';

/** Pairs of open and close that fall into one batch are never written. */
const LINGER_MS = 200;
const REACH_INTERVAL_MS = 20;

/** What an event makes of an action's row: another one, or none any more. */
export interface FoldChange<Row> {
  readonly action: string;
  readonly row: Row | null;
}

/** The end of what was folded, of one store. */
interface FoldedEnd {
  readonly storeId: string;
  readonly position: Position;
}

/** Rows that follow from the log. Each method is one statement, and so one transaction, which moves the checkpoint, too. */
export interface FoldedRows<Row> {
  /** Of its checkpoint in `gate.checkpoint`. */
  readonly name: 'open_executions' | 'due_actions' | 'budgets';
  /** Removes the rows and their checkpoint together, or somebody would take the rows that are gone for all there are. */
  empty(session: LeaseSession): Promise<unknown>;
  /** @returns what it opened */
  apply(session: LeaseSession, events: readonly RecordedEvent[], end: FoldedEnd): Promise<readonly Row[]>;
}

/** A table of the gate with one row for each action that something is still to be done about. */
export interface FoldedTable<Row> {
  /** In the schema `gate`; its checkpoint bears the same name. The column `action` is its key. */
  readonly name: 'open_executions' | 'due_actions';
  readonly changeIn: (recorded: RecordedEvent) => FoldChange<Row> | null;
  /** Writes rows over those of the same actions. Its parameters begin with $5: {@link FoldedTable.valuesOf}. */
  readonly upsert: string;
  readonly valuesOf: (rows: readonly (Row & { readonly action: string; readonly position: Position })[]) => unknown[];
}

/**
 * Follows the log into rows. Rows and checkpoint move in one transaction; a checkpoint of another store, or beyond the
 * end of the log, is void and the fold starts again.
 */
export class LogFold<Row> {
  constructor(
    private readonly pool: pg.Pool,
    private readonly store: EventStore,
    private readonly rows: FoldedRows<Row>,
  ) {}

  /** The start of the log where the table is of another log. */
  async foldedUpTo(): Promise<Position> {
    const { rows } = await answered(
      this.pool.query<{ position: string }>(`select position from gate.checkpoint where name = $1 and store_id = $2`, [
        this.rows.name,
        await this.store.storeId(),
      ]),
    );
    return BigInt(rows[0]?.position ?? START);
  }

  /** Waits until the fold has everything up to `position`. False when it has not in time. */
  async reach(position: Position, timeoutMs: number): Promise<boolean> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      if ((await this.foldedUpTo()) >= position) return true;
      if (signal.aborted) return false;
      await sleep(REACH_INTERVAL_MS);
    }
  }

  /**
   * One process at a time: the caller holds the lease, and all is written over its session. A statement of a former holder
   * that came late would open again what its successor has closed, and nobody would close it any more.
   * @param onOpened told of rows once they stand in the table
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

/** The last word about each action: no statement may both write and remove one row. */
const lastChanges = <Row>(events: readonly RecordedEvent[], changeIn: FoldedTable<Row>['changeIn']) => {
  const opened = new Map<string, Row & { readonly action: string; readonly position: Position }>();
  const closed = new Set<string>();
  /** Closed and opened again in this batch: there may be a row from before it. */
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
