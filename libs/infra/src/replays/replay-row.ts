import type { Digest } from '#libs/crypto';
import type { Actor, ErrorCode } from '#libs/domain/kernel';
import type {
  Replay,
  ReplayCursor,
  ReplayResult,
  ReplayUnderWay,
  StoredSums,
  VersionInForce,
} from '#libs/domain/replays';

/** A row of `replays.replays` as {@link REPLAY_COLUMNS} read it. */
export interface ReplayRow extends Omit<Replay, 'requestedBy' | 'result' | 'inForce'> {
  /** Null also in rows of an older version, which compared with what was decided then. */
  readonly inForce: string | null;
  readonly requestedByType: Actor['type'];
  readonly requestedById: string | null;
  readonly result: string | null;
  readonly digest: Digest | null;
  readonly errorCode: ErrorCode | null;
}

export const REPLAY_COLUMNS = `id, org, purpose, policy, version_id as "versionId", version, from_at as "from", to_at as "to", in_force as "inForce",
  requested_by_type as "requestedByType", requested_by_id as "requestedById", created_at as "createdAt", status, total, done,
  result, digest, error_code as "errorCode", ended_at as "endedAt"`;

export const replayOf = ({ requestedByType, requestedById, result, inForce, ...row }: ReplayRow): Replay => ({
  ...row,
  inForce: inForce === null ? null : (JSON.parse(inForce) as VersionInForce),
  requestedBy: { type: requestedByType, id: requestedById },
  result: result === null ? null : (JSON.parse(result) as ReplayResult),
});

/** What only whoever runs it reads. */
export interface WorkRow extends ReplayRow {
  readonly attempts: number;
  readonly cursorAt: string | null;
  readonly cursorAction: string | null;
  readonly sums: string | null;
}

export const WORK_COLUMNS = `${REPLAY_COLUMNS}, attempts, cursor_at as "cursorAt", cursor_action as "cursorAction", sums`;

export const underWayOf = ({ attempts, cursorAt, cursorAction, sums, ...row }: WorkRow): ReplayUnderWay => ({
  replay: replayOf(row),
  cursor: cursorAt === null ? null : { createdAt: cursorAt, action: cursorAction as ReplayCursor['action'] },
  sums: sums === null ? null : (JSON.parse(sums) as StoredSums),
  attempts,
});
