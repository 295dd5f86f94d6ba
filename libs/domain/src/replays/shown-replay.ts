import type { JsonObject } from '#libs/crypto';
import type { Replay } from './replay.js';

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
  progress: { done: replay.done, total: replay.total },
  requested_by: { ...replay.requestedBy },
  result: replay.result,
  digest: replay.digest,
  error_code: replay.errorCode,
  created_at: replay.createdAt,
  ended_at: replay.endedAt,
});
