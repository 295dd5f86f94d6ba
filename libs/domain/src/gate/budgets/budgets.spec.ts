import { describe, expect, it } from 'vitest';
import { testId } from '../../../../../test/support/given-log.js';
import type { LivingAgent } from '../../agents/index.js';
import type { PolicyBudget } from '../../policies/index.js';
import type { Decision } from '../action/index.js';
import {
  boundsOf,
  chargesOf,
  countedPeriodOf,
  exceeded,
  notCounted,
  notKnown,
  recordedCharge,
  uncountable,
} from './budgets.js';

const AGENT = testId('agt', 1);
const POLICY = testId('pol', 1);
const NOON = Date.parse('2026-10-01T12:00:00.000Z');
const EVERYTHING = { tools: null, agents: null, labels: null, mode: null, sideEffect: null };
const NO_BUDGETS: LivingAgent['budgets'] = { calls_per_day: null, spend_per_day: null };

const budget = (changes: Partial<PolicyBudget> = {}): PolicyBudget => ({
  id: 'daily',
  match: EVERYTHING,
  period: 'day',
  maxCalls: 10,
  maxSpend: null,
  ...changes,
});
const ALLOWED: Decision = {
  outcome: 'allow',
  code: null,
  source: 'rule',
  rule_id: 'work',
  reason: 'rule work',
  message: null,
  policy: POLICY,
  policy_version: testId('pv', 1),
};

describe('the bounds of a call', () => {
  it('are those of its agent and of each budget of the policy that matches it', () => {
    const spend = { amount: 500, currency: 'eur' };
    const agent = { agent: AGENT, budgets: { calls_per_day: 3, spend_per_day: spend } };
    const weekly = budget({ id: 'weekly', period: 'week', maxCalls: null, maxSpend: { amount: 9, currency: 'usd' } });
    expect(boundsOf(agent, POLICY, [budget({ maxSpend: spend }), weekly])).toEqual([
      { budget: `${AGENT}/calls_per_day`, unit: 'calls', limit: 3, period: 'day' },
      { budget: `${AGENT}/spend_per_day`, unit: 'eur', limit: 500, period: 'day' },
      { budget: `${POLICY}/daily`, unit: 'calls', limit: 10, period: 'day' },
      { budget: `${POLICY}/daily`, unit: 'eur', limit: 500, period: 'day' },
      { budget: `${POLICY}/weekly`, unit: 'usd', limit: 9, period: 'week' },
    ]);
  });

  it('are none if no budget is set', () =>
    expect(boundsOf({ agent: AGENT, budgets: NO_BUDGETS }, POLICY, [])).toEqual([]));
});

describe('what a call is charged', () => {
  const bounds = boundsOf({ agent: AGENT, budgets: NO_BUDGETS }, POLICY, [
    budget({ maxSpend: { amount: 500, currency: 'eur' } }),
  ]);

  it('is one call, and its cost if that is known', () => {
    const amounts = (cost?: { amount: number; currency: string }) =>
      chargesOf(bounds, cost, 'UTC', NOON).map(({ unit, amount }) => [unit, amount]);
    expect(amounts({ amount: 70, currency: 'eur' })).toEqual([
      ['calls', 1],
      ['eur', 70],
    ]);
    expect(amounts()).toEqual([
      ['calls', 1],
      ['eur', 0],
    ]);
  });

  it('is of the period of the organization’s time zone', () => {
    const [charge] = chargesOf(bounds, undefined, 'Asia/Tokyo', Date.parse('2026-10-01T15:00:00.000Z'));
    expect(charge?.period.label).toBe('day:2026-10-02');
  });

  it('is recorded by calls or by money, and leads back to its counter', () => {
    const charges = chargesOf(bounds, { amount: 70, currency: 'eur' }, 'UTC', NOON);
    const recorded = charges.map(recordedCharge);
    const day = {
      period: 'day:2026-10-01',
      starts_at: '2026-10-01T00:00:00.000Z',
      resets_at: '2026-10-02T00:00:00.000Z',
    };
    expect(recorded).toEqual([
      { budget: `${POLICY}/daily`, calls: 1, amount: null, currency: null, limit: 10, ...day },
      { budget: `${POLICY}/daily`, calls: 0, amount: 70, currency: 'eur', limit: 500, ...day },
    ]);
    expect(recorded.map(countedPeriodOf)).toEqual(
      charges.map(({ budget: name, unit, period: { startsMs, endsMs } }) => ({ budget: name, unit, startsMs, endsMs })),
    );
  });

  it('cannot be counted in another currency than the budget’s', () => {
    expect(uncountable(bounds, { amount: 1, currency: 'eur' })).toBeNull();
    expect(uncountable(bounds, undefined)).toBeNull();
    expect(uncountable(bounds, { amount: 0, currency: 'usd' })).toEqual(bounds[1]);
  });
});

describe('a refusal', () => {
  const [calls, money] = chargesOf(
    boundsOf({ agent: AGENT, budgets: NO_BUDGETS }, POLICY, [budget({ maxSpend: { amount: 500, currency: 'eur' } })]),
    { amount: 70, currency: 'eur' },
    'UTC',
    NOON,
  );
  const NEXT =
    'until 2026-10-02T00:00:00.000Z. Send the call again then, with a new Idempotency-Key, or ask an admin to raise the budget.';

  it('names the budget, its limit and its reset, and not the rule that allowed the call', () => {
    const by = { outcome: 'deny', code: 'budget_exceeded', source: 'budget', rule_id: null, reason: 'budget daily' };
    const of = { policy: POLICY, policy_version: ALLOWED.policy_version, retry_at: '2026-10-02T00:00:00.000Z' };
    const message = `The budget daily of the policy allows 10 calls, and there is none left ${NEXT}`;
    expect(exceeded(ALLOWED, calls!)).toEqual({ ...by, ...of, message });
    const ofMoney = `The budget daily of the policy allows €5.00, and less than €0.70 of it is left ${NEXT}`;
    expect(exceeded(ALLOWED, money!).message).toBe(ofMoney);
  });

  it('of an agent’s own budget says so', () => {
    const own = { ...calls!, budget: `${AGENT}/calls_per_day`, limit: 1 };
    const message = `The agent's budget of calls per day allows 1 call, and there is none left ${NEXT}`;
    expect(exceeded(ALLOWED, own)).toMatchObject({ message, reason: 'budget calls_per_day' });
  });

  it('of a call that does not say what it spends has no time to retry, and says what would help', () => {
    const refused = notKnown(ALLOWED, { budget: `${POLICY}/daily`, unit: 'eur', limit: 1, period: 'day' });
    expect(refused).toMatchObject({ outcome: 'deny', code: 'policy_denied', source: 'budget', reason: 'budget daily' });
    expect(refused.message).toContain('Name the amount and its currency (such as eur)');
    expect(refused).not.toHaveProperty('retry_at');
  });

  it('of a call in another currency has no time to retry', () => {
    const refused = notCounted(
      ALLOWED,
      { budget: `${POLICY}/daily`, unit: 'eur', limit: 1, period: 'day' },
      { amount: 1, currency: 'usd' },
    );
    expect(refused).toMatchObject({ outcome: 'deny', code: 'policy_denied', source: 'budget' });
    expect(refused).not.toHaveProperty('retry_at');
  });
});
