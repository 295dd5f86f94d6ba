import type pg from 'pg';
import type { MembershipId, OrgId, UserId } from '#libs/domain/kernel';
import { PasskeyRows, type NewPasskeyRow, type PasskeyRow } from '#libs/domain/people';
import { answered } from '../postgres/index.js';

const COLUMNS = 'credential, user_id, org, membership, name, is_offered, sign_count, last_used_ms, counter_fell_ms';

/** Rows of `people.passkeys`. */
export class PostgresPasskeyRows extends PasskeyRows {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async note(row: NewPasskeyRow): Promise<boolean> {
    // One that is there already means nothing yet, or was removed: its event would have been refused before.
    const { rowCount } = await answered(
      this.pool.query(
        `insert into people.passkeys (credential, user_id, org, membership, name, is_offered, sign_count)
         values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (credential) do update
           set membership = excluded.membership, name = excluded.name, is_offered = excluded.is_offered,
               sign_count = excluded.sign_count, last_used_ms = null, counter_fell_ms = null
         where passkeys.user_id = excluded.user_id and passkeys.org = excluded.org`,
        [row.credential, row.user, row.org, row.membership, row.name, row.isOffered, row.signCount],
      ),
    );
    return rowCount === 1;
  }

  override async find(credential: string): Promise<PasskeyRow | null> {
    const rows = await this.select('credential = $1', [credential]);
    return rows[0] ?? null;
  }

  override ofUser(user: UserId, org: OrgId): Promise<readonly PasskeyRow[]> {
    return this.select('user_id = $1 and org = $2', [user, org]);
  }

  override fallen(org: OrgId, sinceMs: number): Promise<readonly PasskeyRow[]> {
    return this.select('org = $1 and counter_fell_ms > $2 order by counter_fell_ms desc, credential limit 100', [
      org,
      sinceMs,
    ]);
  }

  override async used(credential: string, signCount: number, atMs: number): Promise<boolean> {
    // WebAuthn level 3, section 6.1.1. One statement: of two uses at once each is judged after the other.
    const { rows } = await answered(
      this.pool.query<{ fell: boolean }>(
        `with before as (select credential, sign_count from people.passkeys where credential = $1 for update)
         update people.passkeys as passkeys
            set sign_count = greatest(passkeys.sign_count, $2::bigint),
                last_used_ms = $3,
                counter_fell_ms = case when (before.sign_count > 0 or $2 > 0) and $2 <= before.sign_count
                                       then $3 else passkeys.counter_fell_ms end
           from before
          where passkeys.credential = before.credential
         returning (before.sign_count > 0 or $2 > 0) and $2 <= before.sign_count as fell`,
        [credential, signCount, atMs],
      ),
    );
    return rows[0]?.fell ?? false;
  }

  override async remove(credential: string): Promise<void> {
    await answered(this.pool.query(`delete from people.passkeys where credential = $1`, [credential]));
  }

  private async select(condition: string, values: readonly unknown[]): Promise<readonly PasskeyRow[]> {
    const { rows } = await answered(
      this.pool.query<StoredRow>(`select ${COLUMNS} from people.passkeys where ${condition}`, [...values]),
    );
    return rows.map(rowOf);
  }
}

interface StoredRow {
  readonly credential: string;
  readonly user_id: UserId;
  readonly org: OrgId;
  readonly membership: MembershipId;
  readonly name: string;
  readonly is_offered: boolean | null;
  readonly sign_count: string;
  readonly last_used_ms: string | null;
  readonly counter_fell_ms: string | null;
}

const rowOf = (row: StoredRow): PasskeyRow => ({
  credential: row.credential,
  user: row.user_id,
  org: row.org,
  membership: row.membership,
  name: row.name,
  isOffered: row.is_offered,
  signCount: Number(row.sign_count),
  lastUsedAtMs: row.last_used_ms === null ? null : Number(row.last_used_ms),
  counterFellAtMs: row.counter_fell_ms === null ? null : Number(row.counter_fell_ms),
});
