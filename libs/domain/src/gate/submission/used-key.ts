import { StrictJsonError } from '#libs/crypto';
import { DomainError, streamRef, type ActionId } from '../../kernel/index.js';
import { actionDecider, type Submission, type LivingAction, IDEMPOTENCY_WINDOW_MS } from '../action/index.js';
import type { GateKernel } from '../kernel/index.js';
import { type ActionRequest, canonicalArguments, comparisonOf, type CanonicalRequest } from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';
import type { SubmittedAction } from './submit-action.command.js';

/**
 * The action id of this generation of the Idempotency-Key already exists. The caller looks up that action and decides
 * what to answer.
 */
export class KeyIsUsed extends Error {
  override readonly name = 'KeyIsUsed';

  /** @param request the request to compare with the existing action, with the references that its signed intent sets */
  constructor(readonly request: CanonicalRequest) {
    super();
  }
}

/** @throws {KeyIsUsed} */
export const requireUnusedKey = ({ action, request }: CallAtGate): void => {
  if (action.state.state !== 'none') throw new KeyIsUsed(request);
};

/**
 * Turns a conflict of the append at `no_stream` into KeyIsUsed, because it means that a racing duplicate has won. Other
 * errors stay as they are.
 */
export const usedKeyOr = ({ request }: CallAtGate, error: unknown): unknown =>
  error instanceof DomainError && error.code === 'conflict' ? new KeyIsUsed(request) : error;

/**
 * The action that a key names. Null if the key is free again, because that action was abandoned or is older than 24
 * hours.
 */
export const originalOf = async (gate: GateKernel, id: ActionId, now: string): Promise<LivingAction | null> => {
  const { state } = await gate.streams.load(streamRef(actionDecider, id));
  if (state.state === 'none' || state.state === 'abandoned') return null;
  return Date.parse(now) - Date.parse(state.createdAt) < IDEMPOTENCY_WINDOW_MS ? state : null;
};

/** Whether the action was made by the same request, even if its tool's definition has changed since. */
export const isSameRequest = (submission: Submission, request: CanonicalRequest): boolean =>
  comparisonOf(request, submission.tool_digest).comparison === submission.comparison_digest;

/** The same, of a request as the API accepted it. One without a canonical form made no action. */
export const isSameCall = (
  submission: Submission,
  request: Pick<ActionRequest, 'tool' | 'args' | 'mode' | 'onBehalfOf' | 'session'>,
): boolean => {
  try {
    const { canonicalArgs } = canonicalArguments(request.args);
    const { comparison } = comparisonOf({ ...request, canonicalArgs }, submission.tool_digest);
    return comparison === submission.comparison_digest;
  } catch (error) {
    if (error instanceof StrictJsonError) return false;
    throw error;
  }
};

/**
 * The answer to a call under a used key (rule GATE-12).
 * @throws {DomainError} idempotency_conflict if the key names another request
 */
export const replay = (original: LivingAction, request: CanonicalRequest): SubmittedAction => {
  const { submission } = original;
  if (!isSameRequest(submission, request)) {
    throw new DomainError('idempotency_conflict', { param: 'Idempotency-Key' });
  }
  return { action: submission.action, isReplay: true, isRefused: false, isExecuting: false };
};
