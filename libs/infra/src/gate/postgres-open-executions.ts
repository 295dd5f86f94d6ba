import type pg from 'pg';
import type { LeaseSession } from '#libs/infra/leases';
import { answered } from '#libs/infra/postgres';
import {
  actionDecider,
  openExecutionChange,
  OpenExecutions,
  type ListedExecution,
  type OpenExecution,
  type OpenExecutionChange,
} from '#libs/domain/gate';
import {
  categoryOf,
  DamagedEvent,
  decodeEvent,
  idInStream,
  UnknownEventType,
  type ActionId,
  type ConnectorId,
  type EventMetadata,
  type EventStore,
  type OrgId,
  type Position,
  type RecordedEvent,
  type Subscription,
} from '#libs/domain/kernel';
import { foldedTable, LogFold, type FoldedTable } from './log-fold.js';

export class PostgresOpenExecutions extends OpenExecutions {
  private readonly fold: LogFold<OpenExecution>;

  constructor(
    private readonly pool: pg.Pool,
    store: EventStore,
  ) {
    super();
    this.fold = new LogFold(pool, store, foldedTable(TABLE));
  }

  override async list(after: Position, limit: number): Promise<readonly ListedExecution[]> {
    const { rows } = await answered(
      this.pool.query<{ action: ActionId; opened: string }>(
        `select action, opened from gate.open_executions where opened > $1 order by opened limit $2`,
        [String(after), limit],
      ),
    );
    return rows.map(({ action, opened }) => ({ action, opened: BigInt(opened) }));
  }

  override foldedUpTo(): Promise<Position> {
    return this.fold.foldedUpTo();
  }

  async isAnyOpen(org: OrgId, connector: ConnectorId): Promise<boolean> {
    const { rowCount } = await answered(
      this.pool.query(`select 1 from gate.open_executions where org = $1 and connector = $2 limit 1`, [org, connector]),
    );
    return rowCount === 1;
  }

  /** {@link LogFold.reach} */
  reach(position: Position, timeoutMs: number): Promise<boolean> {
    return this.fold.reach(position, timeoutMs);
  }

  /** {@link LogFold.follow} */
  follow(session: LeaseSession, onError: (error: unknown) => void): Promise<Subscription> {
    return this.fold.follow(session, onError);
  }
}

const TABLE: FoldedTable<OpenExecution> = {
  name: 'open_executions',
  changeIn: (recorded) => {
    const change = changeIn(recorded);
    if (change === null) return null;
    return change.change === 'open'
      ? { action: change.execution.action, row: change.execution }
      : { action: change.action, row: null };
  },
  upsert: `insert into gate.open_executions (action, org, connector, opened)
    select * from unnest($5::text[], $6::text[], $7::text[], $8::bigint[])
    on conflict (action) do update set org = excluded.org, connector = excluded.connector, opened = excluded.opened`,
  valuesOf: (rows) => [
    rows.map(({ action }) => action),
    rows.map(({ org }) => org),
    rows.map(({ connector }) => connector),
    rows.map(({ position }) => String(position)),
  ],
};

/**
 * The change that an event makes to the table; null for events of other streams. An event that cannot be read changes
 * nothing: an open action stays open, and the sweeper that loads it logs the fault. The first event of an action that a
 * newer version began is of an unknown type; the action is opened, because it may need recovery.
 */
const changeIn = (recorded: RecordedEvent): OpenExecutionChange | null => {
  if (categoryOf(recorded.stream) !== actionDecider.category) return null;
  try {
    if (!Object.hasOwn(actionDecider.eventTypes, recorded.type)) return begunByNewerVersion(recorded);
    return openExecutionChange(decodeEvent(recorded).event);
  } catch (error) {
    if (error instanceof UnknownEventType) return begunByNewerVersion(recorded);
    if (error instanceof DamagedEvent || error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
};

const begunByNewerVersion = ({ stream, revision, metadata }: RecordedEvent): OpenExecutionChange | null => {
  const { org } = JSON.parse(metadata) as EventMetadata;
  if (revision !== 0 || org === null) return null;
  return { change: 'open', execution: { action: idInStream(stream), org: org as OrgId, connector: null } };
};
