import type pg from 'pg';
import { answered } from '#libs/infra/postgres';
import type { OrgId } from '#libs/domain/kernel';
import { SealerProgress, type LowWater, type ParkedOrg } from '#libs/domain/ledger';

/**
 * The sealer's hints. Losing all of them only makes the sealer read the log again. But a hint that is written late, by
 * a sealer that was frozen while another one took over, could cost a deed. So the sealer writes them over the session
 * of its lease.
 */
export class PostgresSealerProgress extends SealerProgress {
  constructor(private readonly database: Pick<pg.ClientBase, 'query'>) {
    super();
  }

  override async lowWater(): Promise<LowWater | null> {
    const { rows } = await answered(
      this.database.query<{ store_id: string; position: string; stream: string; revision: string; event_id: string }>(
        `select store_id, position, stream, revision, event_id from ledger.low_water`,
      ),
    );
    const row = rows[0];
    if (!row) return null;
    const event = { stream: row.stream, revision: Number(row.revision), event_id: row.event_id };
    return { storeId: row.store_id, position: BigInt(row.position), event };
  }

  override async setLowWater({ storeId, position, event }: LowWater): Promise<void> {
    await answered(
      this.database.query(
        `insert into ledger.low_water (store_id, position, stream, revision, event_id) values ($1, $2, $3, $4, $5)
         on conflict (only_row) do update set
           store_id = excluded.store_id, position = excluded.position, stream = excluded.stream,
           revision = excluded.revision, event_id = excluded.event_id`,
        [storeId, String(position), event.stream, event.revision, event.event_id],
      ),
    );
  }

  override async parked(): Promise<readonly ParkedOrg[]> {
    const { rows } = await answered(
      this.database.query<{ org: OrgId; store_id: string; position: string; since: string; reason: string }>(
        `select org, store_id, position, since, reason from ledger.parked order by position`,
      ),
    );
    return rows.map(({ org, store_id: storeId, position, since, reason }) => ({
      org,
      storeId,
      after: BigInt(position),
      since,
      reason,
    }));
  }

  override async park({ org, storeId, after, since, reason }: ParkedOrg): Promise<void> {
    await answered(
      this.database.query(
        `insert into ledger.parked (org, store_id, position, since, reason) values ($1, $2, $3, $4, $5)
         on conflict (org) do update set store_id = excluded.store_id, position = excluded.position,
           since = excluded.since, reason = excluded.reason`,
        [org, storeId, String(after), since, reason],
      ),
    );
  }

  override async unpark(org: OrgId): Promise<void> {
    await answered(this.database.query(`delete from ledger.parked where org = $1`, [org]));
  }
}
