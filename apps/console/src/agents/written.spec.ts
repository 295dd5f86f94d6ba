import { describe, expect, it } from 'vitest';
import { budgetsOf, changedBudgets, doubleLabel, labelRowsOf, labelsOf, newLabel, typedBudgetsOf } from './written.ts';

describe('budgets as they are typed', () => {
  it.each([
    [{ calls_per_day: null, spend_per_day: null }],
    [{ calls_per_day: 1_000, spend_per_day: { amount: 5_000, currency: 'eur' } }],
  ])('come back as they were: %j', (budgets) => expect(budgetsOf(typedBudgetsOf(budgets))).toEqual(budgets));

  it('are sent unchanged if they are no numbers: the error of the service says what is expected', () =>
    expect(budgetsOf({ calls: 'many', amount: '', currency: ' EUR' })).toEqual({
      calls_per_day: 'many',
      spend_per_day: { amount: '', currency: 'eur' },
    }));

  it('are sent only if they were changed', () => {
    const before = { calls_per_day: 5, spend_per_day: { amount: 5_000, currency: 'eur' } };
    expect(changedBudgets(before, { ...before })).toEqual({});
    expect(changedBudgets(before, { ...before, calls_per_day: 6 })).toEqual({ calls_per_day: 6 });
    expect(changedBudgets(before, { ...before, spend_per_day: null })).toEqual({ spend_per_day: null });
    const dollars = { amount: 5_000, currency: 'usd' };
    expect(changedBudgets(before, { ...before, spend_per_day: dollars })).toEqual({ spend_per_day: dollars });
  });
});

describe('labels as they are typed', () => {
  it('are unchanged by the form, apart from empty rows', () =>
    expect(labelsOf([...labelRowsOf({ team: 'support', tier: '' }), newLabel()])).toEqual({
      team: 'support',
      tier: '',
    }));

  it('keep a value without a name: the error of the service says what is missing', () =>
    expect(labelsOf([newLabel('', 'x')])).toEqual({ '': 'x' }));

  it('report a name that is used twice', () => {
    expect(doubleLabel([newLabel('team', 'a'), newLabel(), newLabel(), newLabel('team', 'b')])).toBe('team');
    expect(doubleLabel([newLabel('team', 'a'), newLabel(), newLabel()])).toBeNull();
  });
});
