import { describe, expect, it } from 'vitest';
import { costIn, medianExceededBy, paymentsIn } from './call-cost.js';

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

it('the facts of a payments processor are there only if one was asked', () => {
  expect(paymentsIn({})).toBeNull();
  expect(paymentsIn({ payments: [] })).toBeNull();
  expect(paymentsIn({ payments: { enriched: false } })).toEqual({ enriched: false });
});
