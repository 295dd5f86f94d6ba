import type { LivingAgent } from '../../agents/index.js';
import type { CallCost } from '../../connectors/index.js';
import {
  displayOf,
  localPeriodAt,
  timestampOf,
  type AgentId,
  type PeriodKind,
  type PolicyId,
} from '../../kernel/index.js';
import type { PolicyBudget } from '../../policies/index.js';
import type { BudgetCharge, Decision } from '../action/index.js';
import { CALLS, type BudgetUnit, type CountedPeriod, type WantedCharge } from './budget-reservations.port.js';

/** One bound of a budget that a call falls under. */
export interface BudgetBound {
  readonly budget: string;
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly period: PeriodKind;
}

/** Every bound that a call falls under: those of its agent, and those of the policy's budgets that match the call. */
export const boundsOf = (
  agent: BoundedAgent,
  policy: PolicyId | null,
  matched: readonly PolicyBudget[],
): readonly BudgetBound[] => [...boundsOfAgent(agent), ...boundsOfPolicy(policy, matched)];

/** An agent and its budgets. */
export type BoundedAgent = Pick<LivingAgent, 'agent' | 'budgets'>;

export const boundsOfAgent = ({ agent, budgets }: BoundedAgent): readonly BudgetBound[] => {
  const { calls_per_day: calls, spend_per_day: spend } = budgets;
  const bounds: BudgetBound[] = [];
  if (calls !== null) bounds.push(bound(callsPerDayOf(agent), CALLS, calls, 'day'));
  if (spend !== null) bounds.push(bound(spendPerDayOf(agent), spend.currency, spend.amount, 'day'));
  return bounds;
};

/**
 * The bounds of a policy's budgets. A budget is one pool for all calls that it matches, and the name is the same in
 * every version of the policy, so a new version goes on counting in the same pool.
 */
export const boundsOfPolicy = (policy: PolicyId | null, budgets: readonly PolicyBudget[]): readonly BudgetBound[] => {
  const bounds: BudgetBound[] = [];
  for (const { id, period, maxCalls, maxSpend } of budgets) {
    const budget = `${policy}/${id}`;
    if (maxCalls !== null) bounds.push(bound(budget, CALLS, maxCalls, period));
    if (maxSpend !== null) bounds.push(bound(budget, maxSpend.currency, maxSpend.amount, period));
  }
  return bounds;
};

/** The name of an agent's budget of calls. */
export const callsPerDayOf = (agent: AgentId): string => `${agent}/calls_per_day`;

/** The name of an agent's budget of spend. */
export const spendPerDayOf = (agent: AgentId): string => `${agent}/spend_per_day`;

const bound = (budget: string, unit: BudgetUnit, limit: number, period: PeriodKind): BudgetBound => ({
  budget,
  unit,
  limit,
  period,
});

/**
 * What the call is charged to each bound: one call, or its cost. An unknown cost is charged as 0.
 * @param cost the expected cost according to the connector
 */
export const chargesOf = (
  bounds: readonly BudgetBound[],
  cost: CallCost | undefined,
  timeZone: string,
  nowMs: number,
): readonly WantedCharge[] =>
  bounds.map(({ budget, unit, limit, period }) => ({
    budget,
    unit,
    amount: unit === CALLS ? 1 : (cost?.amount ?? 0),
    limit,
    period: localPeriodAt(period, timeZone, nowMs),
  }));

/** The first bound of spend; null where calls alone are bounded. */
export const boundOfSpend = (bounds: readonly BudgetBound[]): BudgetBound | null =>
  bounds.find(({ unit }) => unit !== CALLS) ?? null;

/** The first bound that counts another currency than the call spends; null where all can count it. */
export const uncountable = (bounds: readonly BudgetBound[], cost: CallCost | undefined): BudgetBound | null =>
  cost === undefined ? null : (bounds.find(({ unit }) => unit !== CALLS && unit !== cost.currency) ?? null);

/** The charge in the form of the events. */
export const recordedCharge = ({ budget, unit, amount, limit, period }: WantedCharge): BudgetCharge => ({
  budget,
  period: period.label,
  calls: unit === CALLS ? amount : 0,
  amount: unit === CALLS ? null : amount,
  currency: unit === CALLS ? null : unit,
  limit,
  starts_at: timestampOf(period.startsMs),
  resets_at: timestampOf(period.endsMs),
});

/** The bound and period that a recorded charge counts towards. */
export const countedPeriodOf = ({ budget, currency, starts_at, resets_at }: BudgetCharge): CountedPeriod => ({
  budget,
  unit: currency ?? CALLS,
  startsMs: Date.parse(starts_at),
  endsMs: Date.parse(resets_at),
});

/**
 * The refusal `budget_exceeded` (docs/budgets.md, A call that has no room).
 * @param allowed the policy's decision, which this refusal replaces
 */
export const exceeded = (allowed: Decision, charge: WantedCharge): Decision => {
  const resetsAt = timestampOf(charge.period.endsMs);
  return {
    ...refusal(allowed, charge.budget),
    code: 'budget_exceeded',
    message: `${whatIsUsedUp(charge)} until ${resetsAt}. Send the call again then, with a new Idempotency-Key, or ask an admin to raise the budget.`,
    retry_at: resetsAt,
  };
};

/**
 * The refusal of a call that spends another currency than its budget counts, because amounts of two currencies cannot
 * be added. It has no `retry_at`, because waiting would not help.
 */
export const notCounted = (allowed: Decision, { budget, unit }: BudgetBound, cost: CallCost): Decision => ({
  ...refusal(allowed, budget),
  code: 'policy_denied',
  message: `This call spends ${cost.currency}, and ${named(budget)} counts ${unit}, so it cannot be charged and was not run. Ask an admin to set the budget in ${cost.currency}, or to leave this call out of it.`,
});

/**
 * The refusal of a call that spends money, and does not say how much, while a budget bounds what is spent. Charged as nothing,
 * it would be in no budget at all.
 */
export const notKnown = (allowed: Decision, { budget, unit }: BudgetBound): Decision => ({
  ...refusal(allowed, budget),
  code: 'policy_denied',
  message: `What this call spends could not be found out, so it cannot be charged to ${named(budget)} and was not run. Name the amount and its currency (such as ${unit}) in the arguments where the tool takes them, or send the call again later.`,
});

const refusal = (allowed: Decision, budget: string) => {
  const { policy, policy_version } = allowed;
  const by = { outcome: 'deny', source: 'budget', rule_id: null, policy, policy_version } as const;
  return { ...by, reason: `budget ${idOf(budget)}` };
};

const whatIsUsedUp = ({ budget, unit, amount, limit }: WantedCharge): string =>
  unit === CALLS
    ? `${capital(named(budget))} allows ${limit} ${limit === 1 ? 'call' : 'calls'}, and there is none left`
    : `${capital(named(budget))} allows ${displayOf({ amount: limit, currency: unit })}, and less than ${displayOf({ amount, currency: unit })} of it is left`;

const AGENT_BUDGETS: Readonly<Record<string, string>> = {
  calls_per_day: "the agent's budget of calls per day",
  spend_per_day: "the agent's budget of spend per day",
};

const named = (budget: string): string => {
  const id = idOf(budget);
  return (budget.startsWith('agt_') ? AGENT_BUDGETS[id] : undefined) ?? `the budget ${id} of the policy`;
};

/** The id of the agent or policy that owns the budget. */
export const ownerOf = (budget: string): string => budget.slice(0, budget.indexOf('/'));

/** The second part of `<owner>/<id>`. */
export const idOf = (budget: string): string => budget.slice(budget.indexOf('/') + 1);

const capital = (sentence: string): string => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
