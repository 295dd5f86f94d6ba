import type { JsonObject } from '#libs/crypto';
import type { Replay, VersionInForce } from './replay.js';

/** What the decisions of a version are compared with: those of the version in force, or what was decided then. */
export const comparedWith = (inForce: VersionInForce | null): JsonObject =>
  inForce === null
    ? { basis: 'recorded', policy: null, policy_version: null, version: null }
    : { basis: 'enforced', policy: inForce.policy, policy_version: inForce.versionId, version: inForce.version };

/** A replay as the api and the command line show it. */
export const shownReplay = (replay: Replay): JsonObject => ({
  object: 'replay',
  id: replay.id,
  purpose: replay.purpose,
  status: replay.status,
  policy: replay.policy,
  policy_version: replay.versionId,
  version: replay.version,
  from: replay.from,
  to: replay.to,
  compared_with: comparedWith(replay.inForce),
  progress: { done: replay.done, total: replay.total },
  requested_by: { ...replay.requestedBy },
  result: replay.result,
  digest: replay.digest,
  error_code: replay.errorCode,
  created_at: replay.createdAt,
  ended_at: replay.endedAt,
});
