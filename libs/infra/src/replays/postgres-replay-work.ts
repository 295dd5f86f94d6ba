import type { Digest } from '#libs/crypto';
import type { ErrorCode, ReplayId, Timestamp } from '#libs/domain/kernel';
import {
  ReplayWork,
  type ReplayCursor,
  type ReplayResult,
  type ReplayUnderWay,
  type StoredSums,
} from '#libs/domain/replays';
import type { LeaseSession } from '../leases/index.js';
import { answered } from '../postgres/index.js';
import { underWayOf, WORK_COLUMNS, type WorkRow } from './replay-row.js';

/** The lease that is the claim of a replay. */
export const claimOf = (id: ReplayId): string => `replay ${id}`;

/** The row of one replay, over the session that holds its claim. */
export class PostgresReplayWork extends ReplayWork {
  constructor(
    private readonly session: LeaseSession,
    private readonly id: ReplayId,
  ) {
    super();
  }

  override async takeUp(): Promise<ReplayUnderWay | null> {
    const { rows } = await answered(
      this.session.query<WorkRow>(
        `update replays.replays set status = 'running', attempts = attempts + 1
          where id = $1 and status in ('queued', 'running') returning ${WORK_COLUMNS}`,
        [this.id],
      ),
    );
    return rows[0] === undefined ? null : underWayOf(rows[0]);
  }

  override save(done: number, cursor: ReplayCursor, sums: StoredSums): Promise<boolean> {
    return this.update(`done = $2, attempts = 0, cursor_at = $3, cursor_action = $4, sums = $5`, [
      done,
      cursor.createdAt,
      cursor.action,
      JSON.stringify(sums),
    ]);
  }

  override succeed(done: number, result: ReplayResult, digest: Digest, at: Timestamp): Promise<boolean> {
    return this.update(
      `status = 'succeeded', done = $2, total = $2, result = $3, digest = $4, ended_at = $5, sums = null`,
      [done, JSON.stringify(result), digest, at],
    );
  }

  override fail(errorCode: ErrorCode, at: Timestamp): Promise<boolean> {
    return this.update(`status = 'failed', error_code = $2, ended_at = $3, sums = null`, [errorCode, at]);
  }

  private async update(changes: string, values: readonly unknown[]): Promise<boolean> {
    const { rowCount } = await answered(
      this.session.query(`update replays.replays set ${changes} where id = $1 and status = 'running'`, [
        this.id,
        ...values,
      ]),
    );
    return rowCount === 1;
  }
}
