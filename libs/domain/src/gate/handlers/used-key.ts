import { DomainError, streamRef, type ActionId } from '../../kernel/index.js';
import { actionDecider } from '../action.decider.js';
import type { Submission } from '../action.events.js';
import type { LivingAction } from '../action.state.js';
import type { GateKernel } from '../gate-kernel.js';
import { IDEMPOTENCY_WINDOW_MS } from '../idempotent-id.js';
import { comparisonOf, type CanonicalRequest } from '../submission.js';
import type { CallAtGate } from './call-at-gate.js';
import type { SubmittedAction } from './submit-action.command.js';

/** The id of this generation exists. Not an answer: look at what it holds. */
export class KeyIsUsed extends Error {
  override readonly name = 'KeyIsUsed';

  /** @param request what a duplicate is compared by: with the references of its intent */
  constructor(readonly request: CanonicalRequest) {
    super();
  }
}

/** @throws {KeyIsUsed} */
export const requireUnusedKey = ({ action, request }: CallAtGate): void => {
  if (action.state.state !== 'none') throw new KeyIsUsed(request);
};

/** What an append at no_stream that failed says of the key: a conflict means that a racing duplicate has won. */
export const usedKeyOr = ({ request }: CallAtGate, error: unknown): unknown =>
  error instanceof DomainError && error.code === 'conflict' ? new KeyIsUsed(request) : error;

/** The action a key names, or null when the key is free for a new one: abandoned, or older than 24 hours. */
export const originalOf = async (gate: GateKernel, id: ActionId, now: string): Promise<LivingAction | null> => {
  const { state } = await gate.streams.load(streamRef(actionDecider, id));
  if (state.state === 'none' || state.state === 'abandoned') return null;
  return Date.parse(now) - Date.parse(state.createdAt) < IDEMPOTENCY_WINDOW_MS ? state : null;
};

/** Whether an action was made by this very request, whatever has become of the tool since. */
export const isSameRequest = (submission: Submission, request: CanonicalRequest): boolean =>
  comparisonOf(request, submission.tool_digest).comparison === submission.comparison_digest;

/** What a call under a used key is answered with (rule GATE-12). */
export const replay = (original: LivingAction, request: CanonicalRequest): SubmittedAction => {
  const { submission } = original;
  if (!isSameRequest(submission, request)) {
    throw new DomainError('idempotency_conflict', { param: 'Idempotency-Key' });
  }
  return { action: submission.action, isReplay: true, isRefused: false, isExecuting: false };
};
