import type { JsonObject } from '#libs/crypto';
import type { ExecutionOutcome, LivingAction } from '#libs/domain/gate';

/**
 * What the service sent to the upstream, as it was judged and recorded before: method, host and path. The query is in no record,
 * because a credential may stand in it. Null where nothing was sent, where nobody knows yet, and where the connector tells no
 * such facts. Of an unknown outcome it is what may have been sent.
 * @param input the recorded policy input; null where it is stored no more
 */
export const sentRequest = ({ outcome, edge }: LivingAction, input: JsonObject | null): JsonObject | null => {
  // An edge runs the tool itself, and says nothing of how.
  if (outcome === null || edge !== null || !mayHaveLeft(outcome)) return null;
  const request = (input?.['request'] ?? null) as JsonObject | null;
  const http = (request?.['http'] ?? null) as JsonObject | null;
  if (http === null) return null;
  return { method: http['method'] ?? null, host: http['host'] ?? null, path: http['path'] ?? null };
};

/** A call that failed was sent where the upstream said so, by its code or by an answer that was kept; else nothing was. */
const mayHaveLeft = ({ status, error_code: code, result_digest: result }: ExecutionOutcome): boolean =>
  status !== 'failed' || result !== null || (code?.startsWith('upstream_') ?? false);
