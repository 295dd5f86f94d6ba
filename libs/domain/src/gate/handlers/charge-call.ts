import { epochMsOf, streamRef } from '../../kernel/index.js';
import { actionDecider } from '../action.decider.js';
import type { BudgetCharge } from '../action.events.js';
import { type BudgetBound, chargesOf, exceeded, notCounted, recordedCharge, uncountable } from '../budgets.js';
import { costIn } from '../call-cost.js';
import type { GateKernel } from '../gate-kernel.js';
import { comparisonOf } from '../submission.js';
import type { CallAtGate } from './call-at-gate.js';
import { isLiving } from './execution.js';
import { type HeldCall, unheld } from './hold-call.js';
import { isSameRequest } from './used-key.js';

/** A call with what it holds of budgets, or refused because one has no room for it. */
export interface ChargedCall extends HeldCall {
  readonly charges: readonly BudgetCharge[];
}

/** A call that no budget bounds, or that does not run: nobody is asked. */
export const uncharged = (held: HeldCall): ChargedCall => ({ charges: [], ...held });

/**
 * Holds what a call that may run uses up of its budgets, all or none, right before its append: so however many are judged at
 * once, none runs beyond a budget. A call that waits for people holds it meanwhile, so a yes never fails for money.
 * @throws {DomainError} service_unavailable @throws {StoreUnavailable}
 */
export const chargedCall = async (
  gate: GateKernel,
  { id, org, command, request, resolved }: CallAtGate,
  held: HeldCall,
  bounds: readonly BudgetBound[],
): Promise<ChargedCall> => {
  const cost = resolved === null ? undefined : (costIn(resolved.facts) ?? undefined);
  const foreign = uncountable(bounds, cost);
  if (foreign && cost) return uncharged(unheld(notCounted(held.decision, foreign, cost)));
  const nowMs = epochMsOf(command.metadata.now);
  const answer = await gate.budgets.reserve({
    action: id,
    digest: comparisonOf(request, null).comparison,
    reservedMs: nowMs,
    charges: chargesOf(bounds, cost, org.timezone, nowMs),
  });
  if (!answer.isReserved) return uncharged(unheld(exceeded(held.decision, answer.exceeded)));
  return { charges: answer.charges.map(recordedCharge), ...held };
};

/**
 * After another submission has taken the id. A duplicate of this call holds the same rows, which are that one's now; whatever
 * else took it has rows of its own.
 * @throws {StoreUnavailable} the sweeper frees them then
 */
export const freeUnlessShared = async (gate: GateKernel, { id, request }: CallAtGate): Promise<void> => {
  const { state } = await gate.streams.load(streamRef(actionDecider, id));
  if (isLiving(state) && isSameRequest(state.submission, request)) return;
  await gate.budgets.free(id, comparisonOf(request, null).comparison);
};
