import { INTENT_REPLAY } from '#libs/crypto';
import { streamRef, type CommandMetadata } from '../../kernel/index.js';
import { actionDecider } from '../action.decider.js';
import type { Action } from '../action.state.js';
import type { GateKernel } from '../gate-kernel.js';
import type { NonceHolder, NonceReservation } from '../intent-nonces.port.js';
import { intentRefused } from '../intent-refusal.js';
import { comparisonOf, type AcceptedIntent } from '../submission.js';
import type { CallAtGate } from './call-at-gate.js';

/** Longer than an intent is accepted after `exp`, with room for clocks that disagree. */
const KEPT_AFTER_EXP_MS = 6 * 60 * 1000;
/** A submission whose append has not come by then was left behind by a crash. */
const LEFT_BEHIND_AFTER_MS = 60 * 1000;

/**
 * Check 13 (rule INTENT-3): it comes last, so that a refused intent never burns its nonce, and right before the append,
 * so that what is recorded under the nonce is one action. Whoever comes second is refused, and nothing of it is
 * recorded.
 * @throws {IntentRefused} intent_replay
 * @throws {StoreUnavailable}
 */
export const reserveNonce = async (gate: GateKernel, call: CallAtGate, signed: AcceptedIntent): Promise<void> => {
  const { agent, request, id } = call;
  const reservedMs = gate.clock.nowMs();
  const wanted: NonceReservation = {
    agent: agent.agent,
    nonce: signed.nonce,
    action: id,
    // The definition of the tool is not the caller's: it may change between the two tries of one submission.
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
  gate: GateKernel,
  { action, reservedMs }: NonceHolder,
  nonce: string,
  metadata: CommandMetadata,
): Promise<boolean> => {
  const { state } = await gate.streams.load(streamRef(actionDecider, action));
  if (state.state !== 'none') return hasNotConsumed(state, nonce);
  if (gate.clock.nowMs() - reservedMs < LEFT_BEHIND_AFTER_MS) return false;
  // Whoever reserved may only be slow. An id that is abandoned takes no submission any more, so its append, if it still
  // comes, fails instead of making a second action of one intent.
  const command = { type: 'AbandonSubmission' as const, data: { action }, metadata };
  const { folded } = await gate.runner.run(actionDecider, action, command, metadata);
  return hasNotConsumed(folded.state, nonce);
};

/**
 * An action that carries another intent, or none, took its Idempotency-Key from the submission that reserved: that one
 * was answered as a repetition, and repetitions consume nothing.
 */
const hasNotConsumed = (action: Action, nonce: string): boolean => {
  if (action.state === 'none') return false;
  return action.state === 'abandoned' || action.submission.intent?.nonce !== nonce;
};
