import type { JsonValue } from '#libs/crypto';

import type { TrippedBreaker } from '../tripped-breaker.js';
import { type UpstreamVerdict, verdictOfStatus } from '../upstream-mapping.js';
import { isObject } from '../config-reader.js';

/** An answer of the processor, as much of it as it is judged by. */
export interface PaymentsAnswer {
  readonly status: number;
  /** Undefined where the body is no JSON. */
  readonly body: JsonValue | undefined;
  /** Values of headers, by lower-case name. */
  readonly header: (name: string) => string | null;
}

export interface JudgedPayment extends UpstreamVerdict {
  /** Whether the same bytes may be sent once more. */
  readonly isPassing: boolean;
  readonly breaker: TrippedBreaker | null;
}

/** What came of a request (docs/connectors-payments.md, What a call answers). The first row that fits. */
export const judgePayment = (answer: PaymentsAnswer, isRead: boolean): JudgedPayment => {
  const { status, body } = answer;
  if (showsLivemode(body)) return livemode(answer);
  const error = errorIn(body);
  if (error.code === 'approval_required' || isHeldForApproval(body)) return PENDING;
  if (error.code === 'action_blocked') return ended('failed', 'upstream_error', BLOCKED);
  if (error.type === 'idempotency_error') return ended('unknown', 'upstream_error', ANOTHER_ATTEMPT);
  if (status >= 200 && status < 300 && !isObject(body)) return unreadable(isRead);
  const verdict = OF_STATUS[status] ?? verdictOfStatus(status, isRead);
  return { ...verdict, isPassing: mayBeRepeated(answer, error.code), breaker: null };
};

/** Of a write, an answer of these statuses did not apply it, whatever its body would say. */
const NEVER_APPLIED: ReadonlySet<number> = new Set([401, 404, 429]);

/**
 * What an answer says whose body was cut off or too large; null where only the body would say it. Of a write that is nearly
 * always so: a refusal may hold it for an approval, or be about another attempt that is still under way.
 */
export const judgeCutOffPayment = (status: number, isRead: boolean): UpstreamVerdict | null => {
  const isCertain = status >= 400 && status < 500 && (isRead || NEVER_APPLIED.has(status));
  return isCertain ? verdictOfStatus(status, isRead) : null;
};

/**
 * Whether an answer says anywhere, at whatever depth, that it is about real money. Members that others write are passed
 * over: a customer's metadata may say whatever it likes.
 */
export const showsLivemode = (body: JsonValue | undefined): boolean => {
  const rest: (JsonValue | undefined)[] = [body];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (Array.isArray(value)) {
      for (const item of value) rest.push(item);
      continue;
    }
    for (const [name, member] of Object.entries(value)) {
      if (name === 'livemode' && member === true) return true;
      if (name !== 'metadata') rest.push(member);
    }
  }
  return false;
};

const livemode = ({ header }: PaymentsAnswer): JudgedPayment => ({
  status: 'unknown',
  errorCode: 'payments_livemode_detected',
  errorMessage:
    'The processor answered in live mode, so the connector was disabled. Whether the call moved real money, only the processor’s own dashboard says.',
  isPassing: false,
  breaker: { reason: 'livemode_detected', upstreamRequestId: requestIdOf(header('request-id')) },
});

const REQUEST_ID_CHARACTERS = 128;

/** Only what looks like an id is kept: it becomes a part of a deed. */
const requestIdOf = (sent: string | null): string | null =>
  sent !== null && sent.length <= REQUEST_ID_CHARACTERS && /^[\x21-\x7e]+$/.test(sent) ? sent : null;

const errorIn = (body: JsonValue | undefined): { readonly code: string | null; readonly type: string | null } => {
  const error = isObject(body) ? body['error'] : undefined;
  if (!isObject(error)) return { code: null, type: null };
  const { code, type } = error;
  return { code: typeof code === 'string' ? code : null, type: typeof type === 'string' ? type : null };
};

/** The processor may also hold a call by answering with the approval that it waits for. */
const isHeldForApproval = (body: JsonValue | undefined): boolean =>
  isObject(body) && body['object'] === 'v2.core.approval_request';

const ended = (
  status: UpstreamVerdict['status'],
  errorCode: UpstreamVerdict['errorCode'],
  errorMessage: string,
): JudgedPayment => ({ status, errorCode, errorMessage, isPassing: false, breaker: null });

const BLOCKED =
  'The processor blocked the call by a rule of its own, and did not apply it. Its words are in the result.';
const ANOTHER_ATTEMPT =
  'The processor has another request under the key of this call. It may have run: read the state before you try again.';

/** It may run later, once somebody has approved it there, so it is not certainly undone. */
const PENDING = ended(
  'unknown',
  'upstream_approval_pending',
  'The processor holds the call for an approval of its own, and may run it later. Decide it there.',
);

const CONFLICT: UpstreamVerdict = {
  status: 'unknown',
  errorCode: 'upstream_error',
  errorMessage:
    'The processor is still at work on an earlier request of this call. It may have run: read the state before you try again.',
};

const FORBIDDEN: UpstreamVerdict = {
  status: 'failed',
  errorCode: 'upstream_auth_failed',
  errorMessage:
    'The processor answered 403: the key lacks a permission for this. An admin can give it to the key at the processor, which names it in the result.',
};

const OF_STATUS: Readonly<Record<number, UpstreamVerdict>> = { 403: FORBIDDEN, 409: CONFLICT };

const unreadable = (isRead: boolean): JudgedPayment =>
  isRead
    ? ended('failed', 'upstream_error', 'The processor did not answer in JSON.')
    : ended(
        'unknown',
        'upstream_error',
        'The processor did not answer in JSON. The call may have run: read the state before you try again.',
      );

/** The processor's own hint outranks the status. */
const mayBeRepeated = ({ status, header }: PaymentsAnswer, code: string | null): boolean => {
  const hint = header('stripe-should-retry');
  if (hint === 'false') return false;
  if (hint === 'true') return true;
  return status >= 500 || (status === 409 && code === 'idempotency_key_in_use');
};
