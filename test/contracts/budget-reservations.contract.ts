import { expect, it } from 'vitest';
import { digestOf } from '#libs/crypto';
import type { BudgetReservations, CountedPeriod, ReservationAnswer, WantedCharge } from '#libs/domain/gate';
import { type ActionId, localPeriodAt } from '#libs/domain/kernel';
import { actionId, charge, NOON_MS, reservation } from '../support/budget-rows.js';
import { contractOnRows, type PortUnderTest, type RowsUnderTest } from './rows-under-test.js';

export interface ReservationRows extends RowsUnderTest<BudgetReservations> {
  /** As if the log had confirmed what the action reserved. */
  confirm(action: ActionId): Promise<void>;
}

const HOUR_MS = 3_600_000;
const EUR = charge({ unit: 'eur', amount: 400, limit: 1_000 });

const isReserved = ({ isReserved: is }: ReservationAnswer): boolean => is;
const countedOf = ({ budget, unit, period }: WantedCharge): CountedPeriod => ({
  budget,
  unit,
  startsMs: period.startsMs,
  endsMs: period.endsMs,
});
const dayAt = (nowMs: number, zone = 'UTC', changes: Partial<WantedCharge> = {}): WantedCharge =>
  charge({ period: localPeriodAt('day', zone, nowMs), ...changes });

type Budgets = PortUnderTest<ReservationRows>;

/** What is asked of the port in one process, and what it says of it in another. */
const asked = (budgets: Budgets) => ({
  reserve: (number: number, ...charges: readonly WantedCharge[]) =>
    budgets.one.reserve(reservation(number, { charges })),
  reserveAt: (reservedMs: number, number: number, ...charges: readonly WantedCharge[]) =>
    budgets.one.reserve(reservation(number, { reservedMs, charges })),
  usedOf: (...charges: readonly WantedCharge[]) => budgets.other.used(charges.map(countedOf)),
});

/**
 * The contract that every adapter of the port keeps (libs/domain/src/gate/budgets/budget-reservations.port.ts). That rows
 * behind the log reserve nothing is tested where a log is behind them (postgres-budget-reservations.spec.ts).
 */
export const budgetReservationsContract = (adapter: string, start: () => Promise<ReservationRows>): void => {
  contractOnRows(`budget reservations contract: ${adapter}`, start, (budgets) => {
    reserving(budgets);
    counting(budgets);
    retrying(budgets);
    freeing(budgets);
  });
};

const reserving = (budgets: Budgets): void => {
  const { reserve, usedOf } = asked(budgets);

  it('reserves all charges of a call, and answers them in its order', async () => {
    const charges = [EUR, charge(), charge({ budget: 'pol_1/another' })];
    expect(await reserve(1, ...charges)).toEqual({ isReserved: true, charges });
    expect(await usedOf(...charges)).toEqual([400, 1, 1]);
  });

  it('reserves nothing of a call of which one charge does not fit, and names the first that does not', async () => {
    const full = charge({ budget: 'pol_1/weekly', limit: 0, period: localPeriodAt('week', 'UTC', NOON_MS) });
    const alsoFull = charge({ budget: 'pol_1/third', limit: 0 });
    expect(await reserve(1, charge(), full, alsoFull, EUR)).toEqual({ isReserved: false, exceeded: full });
    expect(await usedOf(charge(), full, alsoFull, EUR)).toEqual([0, 0, 0, 0]);
  });

  it('takes what still fits up to the limit, and nothing beyond', async () => {
    const answers = [];
    for (const [number, amount] of [700, 400, 300, 1, 0].entries())
      answers.push(await reserve(number, { ...EUR, amount }));
    expect(answers.map(isReserved)).toEqual([true, false, true, false, true]);
    expect(await usedOf(EUR)).toEqual([1_000]);
  });

  it('judges each call by the limit that it names', async () => {
    await reserve(1, charge({ limit: 1 }));
    expect(isReserved(await reserve(2, charge({ limit: 1 })))).toBe(false);
    expect(isReserved(await reserve(2, charge({ limit: 2 })))).toBe(true);
  });

  it('stays within the limit where many calls ask at once, in two processes', async () => {
    const wanted = Array.from({ length: 120 }, (_, number) =>
      reservation(number, { charges: [charge({ limit: 50 })] }),
    );
    const ports = [budgets.one, budgets.other] as const;
    const answers = await Promise.all(wanted.map((each, index) => ports[index % 2 === 0 ? 0 : 1].reserve(each)));
    expect(answers.filter(isReserved)).toHaveLength(50);
    expect(await usedOf(charge())).toEqual([50]);
  });

  it('says what was used in the order of the request, and 0 of what nobody has used', async () => {
    await reserve(1, charge(), EUR);
    const unknown = charge({ budget: 'pol_1/unknown' });
    expect(await usedOf(unknown, EUR, unknown, charge(), EUR)).toEqual([0, 400, 0, 1, 400]);
    expect(await usedOf()).toEqual([]);
  });
};

const counting = (budgets: Budgets): void => {
  const { reserve, reserveAt, usedOf } = asked(budgets);

  it('counts each budget and each unit by itself', async () => {
    await reserve(1, charge({ limit: 1 }));
    const others = [charge({ budget: 'pol_1/Daily', limit: 1 }), charge({ unit: 'eur', limit: 1 })];
    for (const [index, other] of others.entries()) expect(isReserved(await reserve(2 + index, other))).toBe(true);
    expect(await usedOf(charge(), ...others)).toEqual([1, 1, 1]);
  });

  it('counts in a period what was reserved from its first millisecond to its last', async () => {
    const day = charge();
    const { startsMs, endsMs } = day.period;
    for (const [number, atMs] of [startsMs - 1, startsMs, endsMs - 1, endsMs].entries()) {
      await reserveAt(atMs, number, dayAt(atMs));
    }
    expect(await usedOf(dayAt(startsMs - 1), day, dayAt(endsMs))).toEqual([1, 2, 1]);
  });

  it('counts by the moment, so that another time zone gives no second budget', async () => {
    // In Tokyo the next day begins at 15:00 UTC.
    const afternoonMs = NOON_MS + 4 * HOUR_MS;
    for (const [number, atMs] of [NOON_MS, afternoonMs, afternoonMs].entries()) await reserveAt(atMs, number, charge());
    const tokyo = dayAt(afternoonMs, 'Asia/Tokyo', { limit: 3 });
    expect(await usedOf(tokyo)).toEqual([2]);
    const answers = [await reserveAt(afternoonMs, 3, tokyo), await reserveAt(afternoonMs, 4, tokyo)];
    expect(answers).toEqual([
      { isReserved: true, charges: [tokyo] },
      { isReserved: false, exceeded: tokyo },
    ]);
    // The day in UTC counts what was used meanwhile.
    expect(await usedOf(charge(), tokyo)).toEqual([4, 3]);
    expect(isReserved(await reserveAt(afternoonMs, 5, charge({ limit: 4 })))).toBe(false);
  });

  it.each(['week', 'month', 'hour'] as const)(
    'counts by the moment where another period is counted: the %s',
    async (kind) => {
      await reserve(1, charge());
      const another = charge({ limit: 1, period: localPeriodAt(kind, 'UTC', NOON_MS) });
      expect(await reserve(2, another)).toEqual({ isReserved: false, exceeded: another });
    },
  );
};

const retrying = (budgets: Budgets): void => {
  const { reserve, reserveAt, usedOf } = asked(budgets);

  it('counts a submission once, however often it asks, and also where it asks many times at once', async () => {
    const wanted = reservation(1, { charges: [charge({ limit: 1 })] });
    const ports = [budgets.one, budgets.other] as const;
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) => ports[index % 2 === 0 ? 0 : 1].reserve(wanted)),
    );
    for (const answer of [...answers, await budgets.other.reserve(wanted)]) {
      expect(answer).toEqual({ isReserved: true, charges: wanted.charges });
    }
    expect(await usedOf(charge())).toEqual([1]);
  });

  it('leaves a submission that asks again the period and the amount of its first reservation', async () => {
    const first = { ...EUR, amount: 700 };
    await reserve(1, first);
    const tomorrowMs = NOON_MS + 24 * HOUR_MS;
    const later = { ...dayAt(tomorrowMs), unit: 'eur', amount: 5, limit: 10 };
    const { amount, period } = first;
    expect(await reserveAt(tomorrowMs, 1, later)).toEqual({
      isReserved: true,
      charges: [{ ...later, amount, period }],
    });
    expect(await usedOf(EUR, later)).toEqual([700, 0]);
  });

  it('judges only what a submission that asks again has not reserved', async () => {
    await reserve(1, charge({ limit: 1 }));
    expect(await reserve(1, charge({ limit: 0 }), EUR)).toMatchObject({ isReserved: true });
    const full = charge({ budget: 'pol_1/full', limit: 0 });
    expect(await reserve(1, charge(), EUR, full)).toEqual({ isReserved: false, exceeded: full });
    expect(await usedOf(charge(), EUR, full)).toEqual([1, 400, 0]);
  });

  it('keeps two requests under one action apart', async () => {
    const [one, another] = [digestOf('one'), digestOf('another')];
    for (const digest of [one, another]) await budgets.one.reserve(reservation(1, { digest }));
    expect(await usedOf(charge())).toEqual([2]);
    await budgets.one.free(actionId(1), another);
    expect(await usedOf(charge())).toEqual([1]);
  });
};

const freeing = (budgets: Budgets): void => {
  const { reserve, usedOf } = asked(budgets);

  it('frees all charges of a submission, and those of no other', async () => {
    for (const number of [1, 2]) await reserve(number, charge(), EUR);
    for (const number of [1, 1, 3]) await budgets.other.free(actionId(number), reservation(number).digest);
    expect(await usedOf(charge(), EUR)).toEqual([1, 400]);
    expect(isReserved(await reserve(3, charge({ limit: 2 })))).toBe(true);
  });

  it('does not free what the log has confirmed', async () => {
    for (const number of [1, 2]) await reserve(number, charge());
    await budgets.rows.confirm(actionId(1));
    for (const number of [1, 2]) await budgets.one.free(actionId(number), reservation(number).digest);
    expect(await usedOf(charge())).toEqual([1]);
  });
};
