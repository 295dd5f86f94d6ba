import type pg from 'pg';
import type { UserId } from '#libs/domain/kernel';
import { MissedCodes, type MissedCode } from '#libs/domain/people';
import { answered } from '../postgres/index.js';

/** Rows of `people.tokens` whose code was guessed. */
export class PostgresMissedCodes extends MissedCodes {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async unrecorded(limit: number): Promise<readonly MissedCode[]> {
    const { rows } = await answered(
      this.pool.query<StoredMiss>(
        `select token_hash, user_id, misses, missed_ms from people.tokens
          where misses > recorded_misses order by missed_ms limit $1`,
        [limit],
      ),
    );
    return rows.map(({ token_hash, user_id, misses, missed_ms }) => ({
      tokenHash: token_hash,
      user: user_id,
      misses,
      missedAtMs: Number(missed_ms),
    }));
  }

  override async recorded({ tokenHash, misses }: MissedCode): Promise<void> {
    await answered(
      this.pool.query(
        `update people.tokens set recorded_misses = greatest(recorded_misses, $2) where token_hash = $1`,
        [tokenHash, misses],
      ),
    );
  }
}

interface StoredMiss {
  readonly token_hash: Buffer;
  readonly user_id: UserId | null;
  readonly misses: number;
  readonly missed_ms: string;
}
