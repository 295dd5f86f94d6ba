import { epochMsOf, streamRef } from '../../kernel/index.js';
import { actionDecider, type BudgetCharge, isLiving } from '../action/index.js';
import {
  type BudgetBound,
  boundOfSpend,
  chargesOf,
  exceeded,
  notCounted,
  notKnown,
  recordedCharge,
  uncountable,
  costIn,
} from '../budgets/index.js';
import type { AdmissionKernel } from './admission-kernel.js';
import { comparisonOf } from '../judgement/index.js';
import type { CallAtGate } from './call-at-gate.js';
import { type HeldCall, withoutApproval } from './hold-call.js';
import { isSameRequest } from './used-key.js';

/** A call with its budget charges, or a refusal because a budget has no room for it. */
export interface ChargedCall extends HeldCall {
  readonly charges: readonly BudgetCharge[];
}

/** A call without charges: no budget bounds it, or it is refused. */
export const withoutCharges = (held: HeldCall): ChargedCall => ({ charges: [], ...held });

/**
 * Reserves the budget charges of a call, all or none, right before its append, so that concurrent calls together stay
 * within each budget. A call that waits for approval keeps its reservation meanwhile, so an approval cannot fail for
 * lack of budget.
 * @throws {DomainError} service_unavailable
 * @throws {StoreUnavailable}
 */
export const chargedCall = async (
  gate: AdmissionKernel,
  { id, org, command, request, resolved }: CallAtGate,
  held: HeldCall,
  bounds: readonly BudgetBound[],
): Promise<ChargedCall> => {
  const cost = resolved === null ? undefined : (costIn(resolved.facts) ?? undefined);
  const spend = boundOfSpend(bounds);
  if (spend !== null && cost === undefined && spendsUnknown(gate, resolved, request))
    return withoutCharges(withoutApproval(notKnown(held.decision, spend)));
  const foreign = uncountable(bounds, cost);
  if (foreign && cost) return withoutCharges(withoutApproval(notCounted(held.decision, foreign, cost)));
  const nowMs = epochMsOf(command.metadata.now);
  const answer = await gate.budgets.reserve({
    action: id,
    digest: comparisonOf(request, null).comparison,
    reservedMs: nowMs,
    charges: chargesOf(bounds, cost, org.timezone, nowMs),
  });
  if (!answer.isReserved) return withoutCharges(withoutApproval(exceeded(held.decision, answer.exceeded)));
  return { charges: answer.charges.map(recordedCharge), ...held };
};

/** Whether a call may spend what it does not say. One that can never be sent spends nothing. */
const spendsUnknown = (
  { registry }: AdmissionKernel,
  resolved: CallAtGate['resolved'],
  { args }: CallAtGate['request'],
): boolean => {
  if (resolved?.tool.namesCost !== true) return false;
  const { connector, tool } = resolved;
  return registry.driverOf(connector.type)?.previewOf(connector, tool.name, args).fault === null;
};

/**
 * Frees the reservations of a call whose append lost its id to another submission. If the winner is a duplicate of this
 * call, it has the same reservations, so they stay. A different request has reservations of its own.
 * @throws {StoreUnavailable} the sweeper frees the reservations later
 */
export const freeUnlessShared = async (gate: AdmissionKernel, { id, request }: CallAtGate): Promise<void> => {
  const { state } = await gate.streams.load(streamRef(actionDecider, id));
  if (isLiving(state) && isSameRequest(state.submission, request)) return;
  await gate.budgets.free(id, comparisonOf(request, null).comparison);
};
