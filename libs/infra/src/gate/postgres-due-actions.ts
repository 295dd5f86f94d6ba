import type pg from 'pg';
import type { LeaseSession } from '#libs/infra/leases';
import { answered } from '#libs/infra/postgres';
import { actionDecider, dueActionChange, DueActions, type DueAction } from '#libs/domain/gate';
import {
  categoryOf,
  DamagedEvent,
  decodeEvent,
  UnknownEventType,
  type EventStore,
  type Position,
  type RecordedEvent,
  type Subscription,
  type Timestamp,
} from '#libs/domain/kernel';
import { foldedTable, LogFold, type FoldChange, type FoldedTable } from './log-fold.js';

export class PostgresDueActions extends DueActions {
  private readonly fold: LogFold<DueAction>;

  constructor(
    private readonly pool: pg.Pool,
    store: EventStore,
  ) {
    super();
    this.fold = new LogFold(pool, store, foldedTable(TABLE));
  }

  override async dueBy(now: Timestamp, after: DueAction | null, limit: number): Promise<readonly DueAction[]> {
    const { rows } = await answered(
      this.pool.query<DueAction>(
        `select action, kind, due_at as "dueAt" from gate.due_actions
          where due_at <= $1 and (due_at, action) > ($2, $3) order by due_at, action limit $4`,
        [now, after?.dueAt ?? '', after?.action ?? '', limit],
      ),
    );
    return rows;
  }

  /** {@link LogFold.reach} */
  reach(position: Position, timeoutMs: number): Promise<boolean> {
    return this.fold.reach(position, timeoutMs);
  }

  /** {@link LogFold.follow} */
  follow(
    session: LeaseSession,
    onError: (error: unknown) => void,
    onOpened?: (due: readonly DueAction[]) => void,
  ): Promise<Subscription> {
    return this.fold.follow(session, onError, onOpened);
  }
}

const TABLE: FoldedTable<DueAction> = {
  name: 'due_actions',
  changeIn: (recorded) => changeIn(recorded),
  upsert: `insert into gate.due_actions (action, kind, due_at)
    select * from unnest($5::text[], $6::text[], $7::text[])
    on conflict (action) do update set kind = excluded.kind, due_at = excluded.due_at`,
  valuesOf: (rows) => [rows.map(({ action }) => action), rows.map(({ kind }) => kind), rows.map(({ dueAt }) => dueAt)],
};

/**
 * The change that an event makes to the table. An event that cannot be read, or has an unknown type from a newer
 * version, changes nothing: the action stays due, and the sweeper that loads it logs the fault.
 */
const changeIn = (recorded: RecordedEvent): FoldChange<DueAction> | null => {
  if (categoryOf(recorded.stream) !== actionDecider.category) return null;
  try {
    const change = dueActionChange(decodeEvent(recorded).event);
    if (change === null) return null;
    return change.change === 'open'
      ? { action: change.due.action, row: change.due }
      : { action: change.action, row: null };
  } catch (error) {
    const isUnreadable = error instanceof DamagedEvent || error instanceof SyntaxError || error instanceof TypeError;
    if (isUnreadable || error instanceof UnknownEventType) return null;
    throw error;
  }
};
