import type pg from 'pg';
import type { Digest } from '#libs/crypto';
import type { OrgId, Timestamp } from '#libs/domain/kernel';
import {
  type WitnessDispute,
  WitnessDisputes,
  type WitnessResult,
  type WitnessStanding,
  WitnessStandings,
} from '#libs/domain/ledger';
import { answered } from '#libs/infra/postgres';

interface StandingRow {
  readonly witness: Digest;
  readonly size: string;
  readonly cosigned_at: Timestamp | null;
  readonly result: WitnessResult;
  readonly detail: string | null;
  readonly failures: number;
  readonly next_try_at: Timestamp | null;
}

export class PostgresWitnessStandings extends WitnessStandings {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async of(org: OrgId, origin: string): Promise<ReadonlyMap<Digest, WitnessStanding>> {
    const { rows } = await answered(
      this.pool.query<StandingRow>(
        `select witness, size, cosigned_at, result, detail, failures, next_try_at
         from ledger.witness_standings where org = $1 and origin = $2`,
        [org, origin],
      ),
    );
    return new Map(rows.map((row) => [row.witness, standingOf(row)]));
  }

  /** A word of disagreement stays, whatever a slower process has heard before it. */
  override async put(org: OrgId, origin: string, standing: WitnessStanding): Promise<void> {
    const { witness, size, cosignedAt, result, detail, failures, nextTryAt } = standing;
    await answered(
      this.pool.query(
        `insert into ledger.witness_standings as known
           (org, origin, witness, size, cosigned_at, result, detail, failures, next_try_at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
         on conflict (org, origin, witness) do update set
           cosigned_at = case when excluded.size >= known.size then excluded.cosigned_at else known.cosigned_at end,
           size = greatest(known.size, excluded.size), result = excluded.result, detail = excluded.detail,
           failures = excluded.failures, next_try_at = excluded.next_try_at
         where known.result <> 'disagrees'`,
        [org, origin, witness, size, cosignedAt, result, detail, failures, nextTryAt],
      ),
    );
  }

  override async resume(org: OrgId, origin: string): Promise<void> {
    await answered(
      this.pool.query(`delete from ledger.witness_standings where org = $1 and origin = $2 and result = 'disagrees'`, [
        org,
        origin,
      ]),
    );
  }
}

const standingOf = ({ witness, size, cosigned_at, result, detail, failures, next_try_at }: StandingRow) => ({
  ...{ witness, size: Number(size), cosignedAt: cosigned_at, result, detail, failures, nextTryAt: next_try_at },
});

interface DisputeRow extends Pick<WitnessDispute, 'witness' | 'name' | 'url' | 'said' | 'at'> {
  readonly their_size: string | null;
  readonly our_note: string;
  readonly their_note: string | null;
}

export class PostgresWitnessDisputes extends WitnessDisputes {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async of(org: OrgId, origin: string): Promise<readonly WitnessDispute[]> {
    const { rows } = await answered(
      this.pool.query<DisputeRow>(
        `select witness, name, url, said, their_size, our_note, their_note, at
         from ledger.witness_disputes where org = $1 and origin = $2 order by at`,
        [org, origin],
      ),
    );
    return rows.map(({ witness, name, url, said, at, their_size, our_note, their_note }) => ({
      ...{ witness, name, url, said, at, ourNote: our_note, theirNote: their_note },
      theirSize: their_size === null ? null : Number(their_size),
    }));
  }

  override async add(org: OrgId, origin: string, dispute: WitnessDispute): Promise<void> {
    const { witness, name, url, said, theirSize, ourNote, theirNote, at } = dispute;
    await answered(
      this.pool.query(
        `insert into ledger.witness_disputes
           (org, origin, witness, said, name, url, their_size, our_note, their_note, at)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing`,
        [org, origin, witness, said, name, url, theirSize, ourNote, theirNote, at],
      ),
    );
  }
}
