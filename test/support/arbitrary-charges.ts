import fc from 'fast-check';
import type { BudgetCharge } from '#libs/domain/gate';
import { timestampOf } from '#libs/domain/kernel';

const instant = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);

/** What an action holds of budgets, by calls or by money, with any text in it. */
export const arbitraryCharges = (text: fc.Arbitrary<string>): fc.Arbitrary<readonly BudgetCharge[]> =>
  fc.array(
    fc.record({
      budget: text,
      period: text,
      calls: fc.nat(1),
      amount: fc.option(fc.nat()),
      currency: fc.option(text),
      limit: fc.nat(),
      starts_at: instant,
      resets_at: instant,
    }),
    { maxLength: 3 },
  );
