import { describe, expect, it } from 'vitest';
import { costIn, displayOf, medianExceededBy, paymentsIn } from './call-cost.js';

describe('what a call spends', () => {
  it('is a fact of its request', () => {
    expect(costIn({ cost: { amount: 890, currency: 'eur' } })).toEqual({ amount: 890, currency: 'eur' });
    expect(costIn({ cost: { amount: 0, currency: 'eur' } })).toEqual({ amount: 0, currency: 'eur' });
  });

  it.each([
    [{}],
    [{ cost: null }],
    [{ cost: 890 }],
    [{ cost: { amount: 8.9, currency: 'eur' } }],
    [{ cost: { amount: -1, currency: 'eur' } }],
    [{ cost: { amount: '890', currency: 'eur' } }],
    [{ cost: { amount: 890, currency: 'EUR' } }],
    [{ cost: { amount: 890 } }],
  ])('is not known of %j', (request) => expect(costIn(request)).toBeNull());

  it.each([
    [{ amount: 89_000, currency: 'eur' }, '€890.00'],
    [{ amount: 5, currency: 'usd' }, '$0.05'],
    [{ amount: 89_000, currency: 'jpy' }, '¥89,000'],
    [{ amount: 1_234, currency: 'kwd' }, 'KWD\u00a01.234'],
    [{ amount: 9_007_199_254_740_991, currency: 'eur' }, '€90,071,992,547,409.91'],
    [{ amount: 890, currency: 'zzz' }, '890 minor units of ZZZ'],
  ])('is shown to people: %j as %s', (cost, display) => expect(displayOf(cost)).toBe(display));

  it.each([
    ['nothing was spent before', 500, [], null],
    ['it is five times the median', 500, [100], 100],
    ['it is less', 499, [100, 100, 100], null],
    ['one large amount before it is no measure', 500, [100, 90, 100_000], 100],
    ['the median lies between two', 600, [100, 140], 120],
    ['nothing is spent by any', 0, [0, 0], null],
    ['all before it were free', 1, [0, 0], 0],
  ])('is unusual by the median of those before: %s', (_, amount, earlier, median) =>
    expect(medianExceededBy(amount, earlier)).toBe(median),
  );
});

it('what a payments processor says is there only where one was asked', () => {
  expect(paymentsIn({})).toBeNull();
  expect(paymentsIn({ payments: [] })).toBeNull();
  expect(paymentsIn({ payments: { enriched: false } })).toEqual({ enriched: false });
});
