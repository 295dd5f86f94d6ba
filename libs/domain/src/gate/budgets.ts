import type { LivingAgent } from '../agents/index.js';
import type { CallCost } from '../connectors/index.js';
import { localPeriodAt, timestampOf, type AgentId, type PeriodKind, type PolicyId } from '../kernel/index.js';
import type { PolicyBudget } from '../policies/index.js';
import type { BudgetCharge, Decision } from './action.events.js';
import { CALLS, type BudgetUnit, type CountedPeriod, type WantedCharge } from './budget-reservations.port.js';

/** One bound of a budget that a call falls under. */
export interface BudgetBound {
  readonly budget: string;
  readonly unit: BudgetUnit;
  readonly limit: number;
  readonly period: PeriodKind;
}

/** Every bound that holds for a call: those of its agent, and those of the policy's budgets whose match takes it. */
export const boundsOf = (
  agent: BoundedAgent,
  policy: PolicyId | null,
  matched: readonly PolicyBudget[],
): readonly BudgetBound[] => [...boundsOfAgent(agent), ...boundsOfPolicy(policy, matched)];

/** An agent, and what bounds it. */
export type BoundedAgent = Pick<LivingAgent, 'agent' | 'budgets'>;

export const boundsOfAgent = ({ agent, budgets }: BoundedAgent): readonly BudgetBound[] => {
  const { calls_per_day: calls, spend_per_day: spend } = budgets;
  const bounds: BudgetBound[] = [];
  if (calls !== null) bounds.push(bound(callsPerDayOf(agent), CALLS, calls, 'day'));
  if (spend !== null) bounds.push(bound(spendPerDayOf(agent), spend.currency, spend.amount, 'day'));
  return bounds;
};

/** A policy's budget is one pool for all its calls, and the same one in every version of the policy. */
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
 * What the call uses up of each bound: one call, and what it spends, which is nothing where nobody can say.
 * @param cost as its connector foresees it
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

/** The first bound that counts another currency than the call spends; null where all can count it. */
export const uncountable = (bounds: readonly BudgetBound[], cost: CallCost | undefined): BudgetBound | null =>
  cost === undefined ? null : (bounds.find(({ unit }) => unit !== CALLS && unit !== cost.currency) ?? null);

/** As the log has it. */
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

/** The counter that a recorded charge stands in. */
export const countedPeriodOf = ({ budget, currency, starts_at, resets_at }: BudgetCharge): CountedPeriod => ({
  budget,
  unit: currency ?? CALLS,
  startsMs: Date.parse(starts_at),
  endsMs: Date.parse(resets_at),
});

/**
 * The refusal `budget_exceeded` (docs/budgets.md, A call that has no room).
 * @param allowed what the policy said of the call before
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

/** Money of two currencies has no sum, so what a budget cannot count does not run under it. Waiting would not help. */
export const notCounted = (allowed: Decision, { budget, unit }: BudgetBound, cost: CallCost): Decision => ({
  ...refusal(allowed, budget),
  code: 'policy_denied',
  message: `This call spends ${cost.currency}, and ${named(budget)} counts ${unit}, so it cannot be charged and was not run. Ask an admin to set the budget in ${cost.currency}, or to leave this call out of it.`,
});

const refusal = (allowed: Decision, budget: string) => {
  const { policy, policy_version } = allowed;
  const by = { outcome: 'deny', source: 'budget', rule_id: null, policy, policy_version } as const;
  return { ...by, reason: `budget ${idOf(budget)}` };
};

const whatIsUsedUp = ({ budget, unit, amount, limit }: WantedCharge): string =>
  unit === CALLS
    ? `${capital(named(budget))} allows ${limit} ${limit === 1 ? 'call' : 'calls'}, and there is none left`
    : `${capital(named(budget))} allows ${limit} ${unit} in its smallest unit, and of that less than ${amount} is left`;

const AGENT_BUDGETS: Readonly<Record<string, string>> = {
  calls_per_day: "the agent's budget of calls per day",
  spend_per_day: "the agent's budget of spend per day",
};

const named = (budget: string): string => {
  const id = idOf(budget);
  return (budget.startsWith('agt_') ? AGENT_BUDGETS[id] : undefined) ?? `the budget ${id} of the policy`;
};

/** The agent or the policy whose budget it is. */
export const ownerOf = (budget: string): string => budget.slice(0, budget.indexOf('/'));

/** Of `<owner>/<id>`. */
export const idOf = (budget: string): string => budget.slice(budget.indexOf('/') + 1);

const capital = (sentence: string): string => `${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
