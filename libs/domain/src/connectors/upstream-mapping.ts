import type { ErrorCode } from '../kernel/index.js';
import type { CallOutcome } from './connector-driver.port.js';

/** What an answered request came to (rule EXEC-4). */
export type UpstreamVerdict = Pick<CallOutcome, 'status' | 'errorCode' | 'errorMessage'>;

/** The first, and at most two more (rule EXEC-2). */
export const ATTEMPTS_MAX = 3;
const BACKOFF_BASE_MS = 200;
const BACKOFF_JITTER = 0.2;
const RETRY_AFTER_LIMIT_MS = 5_000;
const RETRIED_STATUSES = new Set([429, 502, 503, 504]);

const SUCCEEDED: UpstreamVerdict = { status: 'succeeded', errorCode: null, errorMessage: null };

/**
 * The verdict of an answer's status. The table names no 3xx: a redirect that is not followed applied nothing when the
 * call only reads; a write may have run before it was sent elsewhere.
 */
export const verdictOfStatus = (status: number, isRead: boolean): UpstreamVerdict => {
  if (status >= 200 && status < 300) return SUCCEEDED;
  const failed = (errorCode: ErrorCode, errorMessage: string): UpstreamVerdict => ({
    status: 'failed',
    errorCode,
    errorMessage,
  });
  if (status === 401 || status === 403) {
    return failed(
      'upstream_auth_failed',
      `The upstream service answered ${status}: it refused the connector's credentials. An admin can store new ones with PUT /v1/connectors/{id}/credentials.`,
    );
  }
  if (status === 404) {
    return failed(
      'upstream_not_found',
      'The upstream service answered 404: nothing is at that address. Check the arguments.',
    );
  }
  if (status === 429) {
    return failed(
      'upstream_rate_limited',
      'The upstream service answered 429: it is limiting requests. Try again later.',
    );
  }
  if (status >= 400 && status < 500) {
    return failed(
      'upstream_error',
      `The upstream service answered ${status} and did not apply the call. Its own words are in the result.`,
    );
  }
  if (status < 400 && isRead) {
    return failed(
      'upstream_error',
      `The upstream service answered ${status} with a redirect that the connector does not follow.`,
    );
  }
  return {
    status: 'unknown',
    errorCode: 'upstream_error',
    errorMessage: `The upstream service answered ${status}. The call may have run: read the state before you try again.`,
  };
};

export const isRetriedStatus = (status: number): boolean => RETRIED_STATUSES.has(status);

export interface RetryQuestion {
  readonly attempt: 1 | 2 | 3;
  /** Until the deadline of attempt 1. */
  readonly remainingMs: number;
  /** What the upstream asked for; null when it did not, or not intelligibly. */
  readonly retryAfterMs: number | null;
  /** From 0 to 1, drawn by the caller. */
  readonly chance: number;
}

/** Milliseconds until the next attempt of a repeatable call that failed in a passing way; null when there is none. */
export const retryDelayMs = ({ attempt, remainingMs, retryAfterMs, chance }: RetryQuestion): number | null => {
  if (attempt >= ATTEMPTS_MAX) return null;
  const spread = 1 + BACKOFF_JITTER * (2 * chance - 1);
  const backoffMs = Math.round(BACKOFF_BASE_MS * 2 ** (attempt - 1) * spread);
  const askedMs = Math.min(retryAfterMs ?? 0, RETRY_AFTER_LIMIT_MS);
  const delayMs = Math.max(backoffMs, askedMs);
  return delayMs < remainingMs ? delayMs : null;
};
