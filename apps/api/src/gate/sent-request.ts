import type { JsonObject } from '#libs/crypto';
import type { ExecutionOutcome, LivingAction } from '#libs/domain/gate';

/**
 * What the service sent to the upstream: method, host and path, as they were judged and recorded before the call. The
 * query is not recorded, because it may contain a credential. Null if nothing was sent, if the call has no outcome yet,
 * or if the connector gives no such facts. If the outcome is `unknown`, it is what may have been sent.
 * @param input the recorded policy input; null if it is no longer stored
 */
export const sentRequest = ({ outcome, edge }: LivingAction, input: JsonObject | null): JsonObject | null => {
  // An agent that runs the tool itself (edge) does not report its request.
  if (outcome === null || edge !== null || !mayHaveLeft(outcome)) return null;
  const request = (input?.['request'] ?? null) as JsonObject | null;
  const http = (request?.['http'] ?? null) as JsonObject | null;
  if (http === null) return null;
  return { method: http['method'] ?? null, host: http['host'] ?? null, path: http['path'] ?? null };
};

/**
 * Whether the request may have been sent. A failed call was sent only if the upstream answered: its error code begins
 * with `upstream_`, or its answer was kept.
 */
const mayHaveLeft = ({ status, error_code: code, result_digest: result }: ExecutionOutcome): boolean =>
  status !== 'failed' || result !== null || (code?.startsWith('upstream_') ?? false);
