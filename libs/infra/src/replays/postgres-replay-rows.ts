import type pg from 'pg';
import type { OrgId, ReplayId, Timestamp } from '#libs/domain/kernel';
import { ReplayRows, type Replay, type ReplayPage, type ReplayRequest } from '#libs/domain/replays';
import { answered } from '../postgres/index.js';
import { REPLAY_COLUMNS, replayOf, type ReplayRow } from './replay-row.js';

/** Held by whoever adds one to an organization: two that add at once do not pass each other's count. */
const ADD_LOCK = `select pg_advisory_xact_lock(hashtextextended('add replay ' || $1, 0))`;
const FORGET = `delete from replays.replays where org = $1 and ended_at < $2`;
const INSERT = `insert into replays.replays (id, org, purpose, policy, version_id, version, from_at, to_at,
    requested_by_type, requested_by_id, created_at, status, total, in_force)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'queued', $12, $14
   where (select count(*) from replays.replays where org = $2 and status in ('queued', 'running')) < $13
  on conflict do nothing`;
const FIND = `select ${REPLAY_COLUMNS} from replays.replays where org = $1 and id = $2`;

/** Rows of `replays.replays`, as people ask for them. */
export class PostgresReplayRows extends ReplayRows {
  /** @param pool durable: whoever was told of a replay finds it */
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async insert(request: ReplayRequest, openMax: number, forgetBefore: Timestamp): Promise<Replay | null> {
    const { id, org, purpose, policy, versionId, version, from, to, requestedBy, createdAt, total, inForce } = request;
    const { type, id: by } = requestedBy;
    const asked = [id, org, purpose, policy, versionId, version, from, to, type, by, createdAt, total];
    const values = [...asked, openMax, inForce === null ? null : JSON.stringify(inForce)];
    const client = await answered(this.pool.connect());
    try {
      await answered(client.query('begin'));
      await answered(client.query(ADD_LOCK, [org]));
      await answered(client.query(FORGET, [org, forgetBefore]));
      await answered(client.query(INSERT, values));
      const { rows } = await answered(client.query<ReplayRow>(FIND, [org, id]));
      await answered(client.query('commit'));
      client.release();
      return rows[0] === undefined ? null : replayOf(rows[0]);
    } catch (error) {
      // Closing the connection ends the transaction, also where no rollback would get through.
      client.release(true);
      throw error;
    }
  }

  override async find(org: OrgId, id: ReplayId): Promise<Replay | null> {
    const { rows } = await answered(this.pool.query<ReplayRow>(FIND, [org, id]));
    return rows[0] === undefined ? null : replayOf(rows[0]);
  }

  override async page(
    org: OrgId,
    { policy, limit, after }: ReplayPage,
  ): Promise<{ readonly rows: readonly Replay[]; readonly hasMore: boolean }> {
    const { rows } = await answered(
      this.pool.query<ReplayRow>(
        `select ${REPLAY_COLUMNS} from replays.replays
          where org = $1 and ($2::text is null or policy = $2) and ($3::text is null or (created_at, id) < ($3, $4))
          order by created_at desc, id desc limit $5`,
        [org, policy, after?.createdAt ?? null, after?.id ?? null, limit + 1],
      ),
    );
    return { rows: rows.slice(0, limit).map(replayOf), hasMore: rows.length > limit };
  }

  override async cancel(org: OrgId, id: ReplayId, at: Timestamp): Promise<Replay | null> {
    await answered(
      this.pool.query(
        `update replays.replays set status = 'cancelled', ended_at = $3, sums = null
          where org = $1 and id = $2 and status in ('queued', 'running')`,
        [org, id, at],
      ),
    );
    return this.find(org, id);
  }

  /**
   * The oldest that is open and that nobody runs, or whose holder has shown nothing for 10 s; whoever runs it asks for its
   * claim, which ends the session of a holder that stands still.
   */
  async unclaimed(): Promise<ReplayId | null> {
    const { rows } = await answered(
      this.pool.query<{ id: ReplayId }>(
        `select id from replays.replays r
          where r.status in ('queued', 'running')
            and not exists (
              select from pg_locks held join pg_stat_activity session using (pid)
               where held.locktype = 'advisory' and held.granted and held.objsubid = 1
                 and held.database = (select oid from pg_database where datname = current_database())
                 and (held.classid::bigint << 32) | held.objid::bigint = hashtextextended('lease:replay ' || r.id, 0)
                 and coalesce(session.query_start > clock_timestamp() - interval '10 seconds', true))
          order by r.created_at, r.id limit 1`,
      ),
    );
    return rows[0]?.id ?? null;
  }
}
