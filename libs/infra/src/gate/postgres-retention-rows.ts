import type pg from 'pg';
import { answered, textArray } from '#libs/infra/postgres';
import type { Digest } from '#libs/crypto';
import type { ActionId, OrgId } from '#libs/domain/kernel';
import { RetentionRows, type RetentionCursor } from '#libs/domain/ledger';

/**
 * Moves the cursor and removes the bodies in one statement, so a crash leaves both done or neither. If another process
 * has moved the cursor, no row matches it and nothing is removed. Deletion by owner uses the primary key, which begins
 * with the owner.
 */
const REMOVE = `
  with moved as (
    insert into gate.retention (org, revision, body_hash) values ($1, $4, $5)
    on conflict (org) do update set revision = excluded.revision, body_hash = excluded.body_hash
      where (gate.retention.revision, gate.retention.body_hash) = ($2::bigint, $3::text)
    returning org
  ), removed as (
    delete from gate.payloads
     where owner = any($6::text[]) and org = $1 and exists (select from moved)
    returning owner
  ), unsalted as (
    delete from gate.payload_salts where owner = any($6::text[]) and exists (select from moved)
  )
  select (select count(*) from moved) as moved, (select count(*) from removed) as removed`;

export class PostgresRetentionRows extends RetentionRows {
  /** @param pool the pool of the payload store */
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async cursorOf(org: OrgId): Promise<RetentionCursor | null> {
    const { rows } = await answered(
      this.pool.query<{ revision: string; body_hash: Digest }>(
        `select revision, body_hash from gate.retention where org = $1`,
        [org],
      ),
    );
    const row = rows[0];
    return row ? { org, revision: Number(row.revision), bodyHash: row.body_hash } : null;
  }

  override async remove(
    actions: readonly ActionId[],
    from: RetentionCursor | null,
    to: RetentionCursor,
  ): Promise<number | null> {
    const { rows } = await answered(
      this.pool.query<{ moved: string; removed: string }>(REMOVE, [
        to.org,
        from?.revision ?? null,
        from?.bodyHash ?? null,
        to.revision,
        to.bodyHash,
        textArray(actions),
      ]),
    );
    return rows[0]?.moved === '1' ? Number(rows[0].removed) : null;
  }
}
