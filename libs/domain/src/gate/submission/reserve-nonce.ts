import { INTENT_REPLAY } from '#libs/crypto';
import { streamRef, type CommandMetadata } from '../../kernel/index.js';
import { actionDecider, type Action } from '../action/index.js';
import { LEFT_BEHIND_AFTER_MS } from '../kernel/index.js';
import type { AdmissionKernel } from './admission-kernel.js';
import type { NonceHolder, NonceReservation } from './intent-nonces.port.js';
import { intentRefused } from './intent-refusal.js';
import { comparisonOf, type AcceptedIntent } from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';

/**
 * How long a nonce is kept after the intent's `exp`: longer than the intent is accepted, with room for clocks that
 * disagree.
 */
const KEPT_AFTER_EXP_MS = 6 * 60 * 1000;

/**
 * Check 13 (rule INTENT-3). It comes last, so that a refused intent does not use up its nonce, and right before the
 * append, so that only one action is recorded under the nonce. A second call with the nonce is refused and not
 * recorded.
 * @throws {IntentRefused} intent_replay
 * @throws {StoreUnavailable}
 */
export const reserveNonce = async (gate: AdmissionKernel, call: CallAtGate, signed: AcceptedIntent): Promise<void> => {
  const { agent, request, id } = call;
  const reservedMs = gate.clock.nowMs();
  const wanted: NonceReservation = {
    agent: agent.agent,
    nonce: signed.nonce,
    action: id,
    // Without the tool's digest, because the tool's definition may change between two tries of one submission.
    digest: comparisonOf(request, null).comparison,
    reservedMs,
    expiresMs: signed.exp + KEPT_AFTER_EXP_MS,
  };
  const holder = await gate.nonces.reserve(wanted);
  if (holder.action === id && holder.digest === wanted.digest) return;
  if (holder.action !== id && (await isFree(gate, holder, signed.nonce, call.command.metadata))) {
    if (await gate.nonces.takeOver(wanted, holder.action)) return;
  }
  throw intentRefused(INTENT_REPLAY);
};

/** Whether the holder has not consumed the nonce and never will. */
const isFree = async (
  gate: AdmissionKernel,
  { action, reservedMs }: NonceHolder,
  nonce: string,
  metadata: CommandMetadata,
): Promise<boolean> => {
  const { state } = await gate.streams.load(streamRef(actionDecider, action));
  if (state.state !== 'none') return hasNotConsumed(state, nonce);
  if (gate.clock.nowMs() - reservedMs < LEFT_BEHIND_AFTER_MS) return false;
  // The holder's append may only be slow. After its id is abandoned, that append fails, so one intent cannot lead to
  // two actions.
  const command = { type: 'AbandonSubmission' as const, data: { action }, metadata };
  const { folded } = await gate.runner.run(actionDecider, action, command, metadata);
  return hasNotConsumed(folded.state, nonce);
};

/**
 * Whether the action did not consume this nonce. If it has another intent, or none, it was submitted by another request
 * under the same Idempotency-Key. The request that reserved the nonce was then answered as a duplicate, and a duplicate
 * consumes no nonce.
 */
const hasNotConsumed = (action: Action, nonce: string): boolean => {
  if (action.state === 'none') return false;
  return action.state === 'abandoned' || action.submission.intent?.nonce !== nonce;
};
