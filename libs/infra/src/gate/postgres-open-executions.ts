import { setTimeout as sleep } from 'node:timers/promises';
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
  START,
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

const CHECKPOINT = 'open_executions';
/** Pairs of open and close that fall into one batch are never written. */
const LINGER_MS = 200;
const REACH_INTERVAL_MS = 20;

/**
 * Rows and checkpoint move in one transaction; a checkpoint of another store, or beyond the end of the log, is void and the
 * fold starts again.
 */
export class PostgresOpenExecutions extends OpenExecutions {
  constructor(
    private readonly pool: pg.Pool,
    private readonly store: EventStore,
  ) {
    super();
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

  override async foldedUpTo(): Promise<Position> {
    const { rows } = await answered(
      this.pool.query<{ position: string }>(`select position from gate.checkpoint where name = $1 and store_id = $2`, [
        CHECKPOINT,
        await this.store.storeId(),
      ]),
    );
    return BigInt(rows[0]?.position ?? START);
  }

  async isAnyOpen(org: OrgId, connector: ConnectorId): Promise<boolean> {
    const { rowCount } = await answered(
      this.pool.query(`select 1 from gate.open_executions where org = $1 and connector = $2 limit 1`, [org, connector]),
    );
    return rowCount === 1;
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
   * Follows the log. One process at a time: the caller holds the lease, and all is written over its session. A statement of
   * a former holder that came late would open again what its successor has closed, and nobody would close it any more.
   */
  async follow(session: LeaseSession, onError: (error: unknown) => void): Promise<Subscription> {
    const storeId = await this.store.storeId();
    const after = await checkpointOf(session, storeId, () => this.store.head());
    return this.store.subscribeToAll({
      after,
      lingerMs: LINGER_MS,
      batchSize: 1_000,
      onEvents: (events) => apply(session, storeId, events),
      onError,
    });
  }
}

const checkpointOf = async (
  session: LeaseSession,
  storeId: string,
  headOf: () => Promise<Position>,
): Promise<Position> => {
  const { rows } = await answered(
    session.query<{ store_id: string; position: string }>(
      `select store_id, position from gate.checkpoint where name = $1`,
      [CHECKPOINT],
    ),
  );
  const checkpoint = rows[0]?.store_id === storeId ? BigInt(rows[0].position) : null;
  if (checkpoint !== null && checkpoint <= (await headOf())) return checkpoint;
  // Together, or somebody would take the rows that are gone for all there are.
  await answered(
    session.query(`with gone as (delete from gate.open_executions) delete from gate.checkpoint where name = $1`, [
      CHECKPOINT,
    ]),
  );
  return START;
};

const apply = async (session: LeaseSession, storeId: string, events: readonly RecordedEvent[]): Promise<void> => {
  const opened = new Map<string, OpenExecution & { position: Position }>();
  const closed: string[] = [];
  for (const recorded of events) {
    const change = changeIn(recorded);
    if (change?.change === 'open')
      opened.set(change.execution.action, { position: recorded.position, ...change.execution });
    if (change?.change === 'close' && !opened.delete(change.action)) closed.push(change.action);
  }
  const rows = [...opened.values()];
  const last = events[events.length - 1] as RecordedEvent;
  // One statement is one transaction.
  await answered(
    session.query(
      `with opened as (
       insert into gate.open_executions (action, org, connector, opened)
       select * from unnest($1::text[], $2::text[], $3::text[], $4::bigint[])
       on conflict do nothing
     ), closed as (
       delete from gate.open_executions where action = any($5::text[])
     )
     insert into gate.checkpoint (name, store_id, position) values ($6, $7, $8)
     on conflict (name) do update set store_id = excluded.store_id, position = excluded.position`,
      [
        rows.map((row) => row.action),
        rows.map((row) => row.org),
        rows.map((row) => row.connector),
        rows.map((row) => String(row.position)),
        closed,
        CHECKPOINT,
        storeId,
        String(last.position),
      ],
    ),
  );
};

/**
 * An event of an action that cannot be read changes nothing here: one that is open stays open, and whoever looks at it
 * names it. One that a newer version began may have to be recovered, so it is open, too. Events of other streams are
 * nobody's executions.
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
