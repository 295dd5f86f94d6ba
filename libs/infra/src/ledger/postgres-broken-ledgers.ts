import type pg from 'pg';
import type { OrgId } from '#libs/domain/kernel';
import { type BrokenLedger, BrokenLedgers, type LedgerBreakReason } from '#libs/domain/ledger';
import { answered } from '#libs/infra/postgres';

interface Row {
  readonly org: OrgId;
  readonly reason: LedgerBreakReason;
  readonly size: string;
  readonly signed_size: string;
  readonly since: string;
}

export class PostgresBrokenLedgers extends BrokenLedgers {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async all(): Promise<readonly BrokenLedger[]> {
    const { rows } = await answered(
      this.pool.query<Row>(`select org, reason, size, signed_size, since from ledger.broken_ledgers order by org`),
    );
    return rows.map(brokenOf);
  }

  override async of(org: OrgId): Promise<BrokenLedger | null> {
    const { rows } = await answered(
      this.pool.query<Row>(`select org, reason, size, signed_size, since from ledger.broken_ledgers where org = $1`, [
        org,
      ]),
    );
    return rows[0] ? brokenOf(rows[0]) : null;
  }

  override async add({ org, reason, size, signedSize, since }: BrokenLedger): Promise<void> {
    await answered(
      this.pool.query(
        `insert into ledger.broken_ledgers (org, reason, size, signed_size, since) values ($1, $2, $3, $4, $5)
         on conflict (org) do nothing`,
        [org, reason, size, signedSize, since],
      ),
    );
  }

  override async remove(org: OrgId): Promise<void> {
    await answered(this.pool.query(`delete from ledger.broken_ledgers where org = $1`, [org]));
  }
}

const brokenOf = ({ org, reason, size, signed_size: signedSize, since }: Row): BrokenLedger => ({
  org,
  reason,
  size: Number(size),
  signedSize: Number(signedSize),
  since,
});
