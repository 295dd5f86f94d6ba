import type pg from 'pg';
import { type BoundChallenge, PasskeyChallenges } from '#libs/domain/people';
import { answered } from '../postgres/index.js';

/** Rows of `people.passkey_challenges`. */
export class PostgresPasskeyChallenges extends PasskeyChallenges {
  constructor(private readonly pool: pg.Pool) {
    super();
  }

  override async issue(
    { challengeHash, purpose, holder }: BoundChallenge,
    nowMs: number,
    expiresAtMs: number,
  ): Promise<void> {
    await answered(
      this.pool.query({
        name: 'passkey-challenge',
        text: `with over as (delete from people.passkey_challenges where expires_ms <= $5)
               insert into people.passkey_challenges (challenge_hash, purpose, holder, expires_ms) values ($1, $2, $3, $4)`,
        values: [challengeHash, purpose, holder, expiresAtMs, nowMs],
      }),
    );
  }

  override async take({ challengeHash, purpose, holder }: BoundChallenge, nowMs: number): Promise<boolean> {
    const { rowCount } = await answered(
      this.pool.query(
        `delete from people.passkey_challenges
          where challenge_hash = $1 and purpose = $2 and holder = $3 and expires_ms > $4`,
        [challengeHash, purpose, holder, nowMs],
      ),
    );
    return rowCount === 1;
  }
}
