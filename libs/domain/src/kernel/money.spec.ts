import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { amountsIn, displayOf } from './money.js';

describe('money as people read it', () => {
  it.each([
    [{ amount: 8_000, currency: 'eur' }, '€80.00'],
    [{ amount: 5, currency: 'usd' }, '$0.05'],
    [{ amount: 0, currency: 'usd' }, '$0.00'],
    [{ amount: -8_005, currency: 'eur' }, '-€80.05'],
    [{ amount: 89_000, currency: 'jpy' }, '¥89,000'],
    [{ amount: 1_234, currency: 'kwd' }, 'KWD\u00a01.234'],
    [{ amount: 12_345, currency: 'clf' }, 'CLF\u00a01.2345'],
    [{ amount: 9_007_199_254_740_991, currency: 'eur' }, '€90,071,992,547,409.91'],
  ])('has the digits of its currency: %j as %s', (money, display) => expect(displayOf(money)).toBe(display));

  it.each([
    [{ amount: 890, currency: 'zzz' }, '890 minor units of ZZZ'],
    [{ amount: 890, currency: 'xau' }, '890 minor units of XAU'],
  ])('is plain units where nobody knows its digits: %j as %s', (money, display) =>
    expect(displayOf(money)).toBe(display),
  );

  it('loses no digit of any amount', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.constantFrom('eur', 'jpy', 'kwd', 'clf', 'zzz'), (amount, currency) => {
        const digits = displayOf({ amount, currency }).replaceAll(/[^0-9]/g, '');
        expect(Number(digits)).toBe(Math.abs(amount));
      }),
    );
  });
});

describe('arguments that are marked as amounts', () => {
  const fixed = { amount: { currency: 'eur' } };
  const named = { amount: { currency_arg: 'currency' } };

  it('are shown in the currency of the mark', () =>
    expect(amountsIn({ amount: 8_000, note: 'late' }, fixed)).toEqual([
      { argument: 'amount', currency: 'eur', display: '€80.00', hint: null },
    ]));

  it.each(['jpy', 'JPY'])('are shown in the currency that another argument names: %s', (currency) =>
    expect(amountsIn({ amount: 8_000, currency }, named)).toEqual([
      { argument: 'amount', currency: 'jpy', display: '¥8,000', hint: null },
    ]),
  );

  it('are none if the call lacks them or the tool marks none', () => {
    expect(amountsIn({ note: 'late' }, fixed)).toEqual([]);
    expect(amountsIn({ amount: 8_000 }, undefined)).toEqual([]);
  });

  it.each(['8000', 80.5, 1e21, 2 ** 53, null, [8_000], { of: 8_000 }])(
    'are not shown as money, with a hint that says why, if they are no whole number: %j',
    (amount) => {
      const [shown] = amountsIn({ amount }, fixed);
      expect(shown).toMatchObject({ currency: 'eur', display: null });
      expect(shown?.hint).toContain('a whole number of minor units');
    },
  );

  it.each([
    [{ amount: 8_000 }, 'it has no argument currency'],
    [{ amount: 8_000, currency: 'euro' }, 'no code of three letters'],
    [{ amount: 8_000, currency: 'Eur' }, 'no code of three letters'],
    [{ amount: 8_000, currency: 978 }, 'no code of three letters'],
  ])('are shown as they are, and why, where no currency is known: %j', (args, hint) => {
    const [shown] = amountsIn(args, named);
    expect(shown).toMatchObject({ currency: null, display: null });
    expect(shown?.hint).toContain(hint);
  });

  it('have no currency if its argument is only an inherited property', () =>
    expect(amountsIn({ amount: 8_000 }, { amount: { currency_arg: 'toString' } })[0]?.display).toBeNull());
});
