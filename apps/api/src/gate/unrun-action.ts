import type { JsonObject } from '#libs/crypto';
import { courseOf, statusOf, type ActionStatus, type LivingAction } from '#libs/domain/gate';
import { type DeedId, DomainError, epochMsOf, ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';
import type { ReadAction } from './action-reader.js';

/**
 * Statuses of actions that did not run and never will: refused by the gate, denied by a person, expired, or cancelled.
 */
const UNRUN = ['denied', 'expired', 'cancelled'] as const satisfies readonly ActionStatus[];
type Unrun = (typeof UNRUN)[number];

const unrunStatusOf = (action: LivingAction): Unrun | null => {
  const status = statusOf(action, false);
  return UNRUN.find((unrun) => unrun === status) ?? null;
};

/** Whether the action is answered with an error. The error is sent only when the action is sealed (rule GATE-4). */
export const isUnrun = (action: LivingAction): boolean => unrunStatusOf(action) !== null;

/**
 * Answers an action that did not run with an error that holds the sealed action. The message of a refusal is the
 * decision's own sentence (rule GATE-4). A replay may also find an action that a person denied, or that expired or was
 * cancelled meanwhile.
 * @throws {DomainError} if the action did not run
 */
export const refuseUnrun = (
  { action, deed }: ReadAction,
  view: JsonObject,
  call: { readonly hasKey: boolean; readonly isReplay: boolean; readonly nowMs: number },
): void => {
  const refusal = refusalOf(action, call.isReplay);
  if (refusal === null) return;
  requireSealed(deed, call.hasKey);
  const { code, message } = refusal;
  throw new DomainError(code, { message, extra: { action: view }, ...retryAfterOf(action, call.nowMs) });
};

/**
 * A refusal is told when it is sealed, or not at all (rule GATE-4).
 * @throws {DomainError} service_unavailable
 */
export const requireSealed = (deed: DeedId | null, hasKey: boolean): void => {
  if (deed !== null) return;
  throw new DomainError('service_unavailable', {
    message: hasKey
      ? 'The refusal is recorded but could not be sealed yet. Send the same request with the same Idempotency-Key again.'
      : 'The call is refused, and the refusal recorded, but it could not be sealed yet. Nothing was run; read the action later.',
  });
};

/** Counts down to the recorded reset; 0 after it. So a replay counts down to the same time (rule GATE-13). */
const retryAfterOf = ({ decision }: LivingAction, nowMs: number): { readonly retryAfterSeconds?: number } =>
  decision?.retry_at === undefined
    ? {}
    : { retryAfterSeconds: Math.max(0, Math.ceil((epochMsOf(decision.retry_at) - nowMs) / 1000)) };

export interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

/** Why an action did not run and never will, in the words for its agent; null if it ran, or still may. */
export const refusalOf = (action: LivingAction, isReplay: boolean): Refusal | null => {
  const status = unrunStatusOf(action);
  if (status === null) return null;
  const { decision, approval, submission } = action;
  const hasKey = submission.idempotency_key_hash !== null;
  if (status === 'expired') return { code: 'approval_expired', message: ERROR_CATALOGUE.approval_expired.message };
  if (status === 'cancelled') return { code: 'conflict', message: cancelled(hasKey) };
  if (decision === null || courseOf(decision) !== 'ends')
    return { code: 'policy_denied', message: deniedByPerson(approval?.reason ?? null, hasKey) };
  const code = decision.code ?? 'policy_denied';
  const stopped = isReplay ? STOPPED_THEN[code]?.(hasKey) : undefined;
  return { code, message: stopped ?? decision.message ?? ERROR_CATALOGUE[code].message };
};

/** A call that was found again without a key, by its id or as a repeat, has none to be replaced. */
const anew = (hasKey: boolean): string => (hasKey ? 'send the call with a new Idempotency-Key' : 'make the call again');
const then = (hasKey: boolean): string =>
  `when the call was made${hasKey ? ', and that refusal is the answer to its Idempotency-Key' : ''}`;

/** Messages for a replayed refusal, because the Stop that caused it may be over. */
const STOPPED_THEN: Partial<Readonly<Record<ErrorCode, (hasKey: boolean) => string>>> = {
  agent_stopped: (hasKey) => `This agent was stopped ${then(hasKey)}. Once it is resumed, ${anew(hasKey)}.`,
  agent_suspended: (hasKey) => `This agent was suspended ${then(hasKey)}. Once it is resumed, ${anew(hasKey)}.`,
  org_stopped: (hasKey) =>
    `All agents of this organization were stopped ${then(hasKey)}. Once they are started again, ${anew(hasKey)}.`,
};

const cancelled = (hasKey: boolean): string =>
  `This action was cancelled while it waited for approval, and nothing was run. If it is wanted after all, ${anew(hasKey)}.`;

const deniedByPerson = (reason: string | null, hasKey: boolean): string =>
  `A person denied this call, and nothing was run.${reason === null ? '' : ` Their reason: ${reason}.`} ` +
  `Do not repeat it unchanged; if they agree to another try, ${anew(hasKey)}.`;
