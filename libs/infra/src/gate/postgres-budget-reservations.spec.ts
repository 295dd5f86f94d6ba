import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import pg from 'pg';
import { digestOf } from '#libs/crypto';
import type { ReservationAnswer } from '#libs/domain/gate';
import { DomainError, localPeriodAt } from '#libs/domain/kernel';
import { PostgresBudgetReservations } from '#libs/infra/gate';
import {
  budgetReservationsContract,
  type ReservationRows,
} from '../../../../test/contracts/budget-reservations.contract.js';
import { actionId, BudgetTables, charge, NOON_MS, reservation } from '../../../../test/support/budget-rows.js';
import { rejected } from '../../../../test/support/thrown.js';

budgetReservationsContract('postgres', async (): Promise<ReservationRows> => {
  const own = await BudgetTables.open();
  return {
    open: () => own.process(),
    empty: () => own.begin(),
    close: () => own.close(),
    confirm: async (action) => {
      await own.pool.query('update gate.budget_reservations set is_confirmed = true where action = $1', [action]);
    },
  };
});

let tables: BudgetTables;
beforeAll(async () => {
  tables = await BudgetTables.open();
});
afterAll(() => tables.close());
beforeEach(() => tables.begin());

const HOUR_MS = 3_600_000;
const EUR = charge({ unit: 'eur', amount: 400, limit: 1_000 });
const isReserved = ({ isReserved: is }: ReservationAnswer): boolean => is;
const usedNow = async (): Promise<Readonly<Record<string, number>>> => {
  const counters = await tables.counters();
  for (const { name, used, summed } of counters) expect([name, used]).toEqual([name, summed]);
  return Object.fromEntries(counters.map(({ name, used }) => [name, used]));
};

describe('a reservation', () => {
  it('holds every charge of the call', async () => {
    const wanted = reservation(1, { charges: [charge(), EUR] });
    expect(await tables.reservations.reserve(wanted)).toEqual({ isReserved: true, charges: [charge(), EUR] });
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-01 00:00': 1, 'pol_1/daily eur 10-01 00:00': 400 });
  });

  it('counts in its own period, and in none before or after it', async () => {
    const on = (days: number, number: number) => {
      const reservedMs = NOON_MS + days * 24 * HOUR_MS;
      return reservation(number, {
        reservedMs,
        charges: [charge({ period: localPeriodAt('day', 'UTC', reservedMs) })],
      });
    };
    for (const [number, days] of [0, 1, 2, 1].entries()) await tables.reservations.reserve(on(days, number));
    expect(await usedNow()).toEqual({
      'pol_1/daily calls 10-01 00:00': 1,
      'pol_1/daily calls 10-02 00:00': 2,
      'pol_1/daily calls 10-03 00:00': 1,
    });
  });

  describe('reads no other call’s', () => {
    const ofMany = (number: number) => reservation(number, { charges: [charge({ limit: 1e6 })] });
    const manyOthers = () =>
      Promise.all(Array.from({ length: 2_000 }, (_, index) => tables.reservations.reserve(ofMany(index + 1))));
    const read = async (pool: pg.Pool): Promise<number> => {
      await pool.query('select pg_stat_force_next_flush()');
      const { rows } = await pool.query<{ tuples: string }>(
        `select seq_tup_read + (select sum(idx_tup_read) from pg_stat_user_indexes i where i.relid = t.relid) as tuples
           from pg_stat_user_tables t where relname = 'budget_reservations'`,
      );
      return Number(rows[0]?.tuples);
    };

    it.each([
      ['before any statistics were made', async () => undefined],
      [
        'where its plans are of tables that were small',
        async (pool: pg.Pool, process: PostgresBudgetReservations) => {
          await process.reserve(ofMany(4_001));
          await pool.query('analyze gate.budget_reservations, gate.budget_counters');
          for (const number of [4_002, 4_003, 4_004]) await process.reserve(ofMany(number));
        },
      ],
    ])('however many its budget has, %s', async (_when, prepare) => {
      const pool = new pg.Pool({ ...tables.pool.options, max: 1 });
      const process = new PostgresBudgetReservations(pool, tables.store);
      await prepare(pool, process);
      await manyOthers();
      const before = await read(pool);
      for (const number of [5_001, 5_002, 5_003]) expect(isReserved(await process.reserve(ofMany(number)))).toBe(true);
      expect((await read(pool)) - before).toBeLessThan(20);
      await pool.end();
    });
  });

  it('keeps the period that it was made in when the submission is tried again after midnight', async () => {
    const first = charge({ limit: 1 });
    await tables.reservations.reserve(reservation(1, { charges: [first] }));
    const later = NOON_MS + 13 * HOUR_MS;
    const next = { ...first, period: localPeriodAt('day', 'UTC', later) };
    const again = await tables.reservations.reserve(reservation(1, { reservedMs: later, charges: [next] }));
    expect(again).toEqual({ isReserved: true, charges: [first] });
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-01 00:00': 1, 'pol_1/daily calls 10-02 00:00': 0 });
  });

  it('of another call under the same id is another one, and each is freed by itself', async () => {
    const [one, other] = [digestOf('one'), digestOf('other')];
    await tables.reservations.reserve(reservation(1, { digest: one }));
    await tables.reservations.reserve(reservation(1, { digest: other }));
    await tables.reservations.free(actionId(1), other);
    await tables.reservations.free(actionId(1), other);
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-01 00:00': 1 });
    expect((await tables.dump()).length).toBe(1);
  });
});

describe('callers that wait at the same moment', () => {
  it('64 on one counter, in two processes, end exactly at the limit', async () => {
    const processes = [tables.reservations, tables.process()] as const;
    const limit = 1_000;
    let next = 0;
    let reserved = 0;
    const caller = async (process: (typeof processes)[number]): Promise<void> => {
      while (next < 2 * limit) {
        const answer = await process.reserve(reservation((next += 1), { charges: [charge({ limit })] }));
        if (isReserved(answer)) reserved += 1;
      }
    };
    await Promise.all(
      Array.from({ length: 64 }, (_, index) => caller(processes[index % 2] as (typeof processes)[number])),
    );
    expect(reserved).toBe(limit);
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-01 00:00': limit });
  });

  it('with budgets in any order, in two processes, do not deadlock, and money stays within its limit', async () => {
    const processes = [tables.reservations, tables.process()] as const;
    const budgets = ['pol_1/a', 'pol_1/b', 'pol_2/a', 'agt_1/spend_per_day'];
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, number) => {
        const order = [0, 1, 2, 3].map((place) => budgets[(place + number) % 4] as string);
        const charges = order.slice(0, 3).map((budget) => ({ ...EUR, budget, amount: 7, limit: 500 }));
        const process = processes[number % 2] as (typeof processes)[number];
        return process.reserve(reservation(number, { charges: number % 4 < 2 ? charges : charges.toReversed() }));
      }),
    );
    const used = Object.values(await usedNow());
    expect(used.every((amount) => amount <= 500)).toBe(true);
    expect(Math.max(...used)).toBeGreaterThan(500 - 7);
    expect(used.reduce((sum, amount) => sum + amount, 0)).toBe(answers.filter(isReserved).length * 21);
  });
});

describe('a time zone that was changed on the day', () => {
  // Noon in UTC is 21:00 in Tokyo, where the next day begins three hours later.
  const tokyo = (nowMs: number) => charge({ limit: 3, period: localPeriodAt('day', 'Asia/Tokyo', nowMs) });

  it('gives no second budget: the day of the new zone counts what was used in it before', async () => {
    const now = NOON_MS + 4 * HOUR_MS;
    const utc = charge({ limit: 3 });
    // One reservation before midnight in Tokyo and two after it.
    for (const [number, reservedMs] of [NOON_MS, now, now].entries()) {
      await tables.reservations.reserve(reservation(number, { reservedMs, charges: [utc] }));
    }
    const after = [];
    for (const number of [3, 4]) {
      after.push(await tables.reservations.reserve(reservation(number, { reservedMs: now, charges: [tokyo(now)] })));
    }
    expect(after.map(isReserved)).toEqual([true, false]);
    // After the zone is changed back, the UTC day also counts what was used meanwhile.
    expect(isReserved(await tables.reservations.reserve(reservation(5, { reservedMs: now, charges: [utc] })))).toBe(
      false,
    );
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-01 00:00': 4, 'pol_1/daily calls 10-01 15:00': 3 });
  });
});

describe('rows that are behind what this process has seen of the log', () => {
  const settleUpTo = (position: bigint): Promise<void> => tables.settleUpTo(position);

  it('reserve nothing until they have caught up', async () => {
    await settleUpTo(50n);
    expect(isReserved(await tables.reservations.reserve(reservation(1)))).toBe(true);
    await settleUpTo(49n);
    const { code, retryAfterSeconds } = await rejected(DomainError, tables.reservations.reserve(reservation(2)));
    expect([code, retryAfterSeconds]).toEqual(['service_unavailable', 1]);
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-01 00:00': 1 });
    await settleUpTo(50n);
    expect(isReserved(await tables.reservations.reserve(reservation(2)))).toBe(true);
  });

  it('are waited for by a process that has just begun, as far as the log went then', async () => {
    const head = 7n;
    const store = Object.create(tables.store, { head: { value: () => Promise.resolve(head) } }) as typeof tables.store;
    const { PostgresBudgetReservations } = await import('#libs/infra/gate');
    const begun = new PostgresBudgetReservations(tables.pool, store, 10_000);
    const answer = begun.reserve(reservation(1));
    await settleUpTo(6n);
    await settleUpTo(7n);
    expect(isReserved(await answer)).toBe(true);
  });
});

describe('a reservation of an ended period', () => {
  const later = NOON_MS + 72 * HOUR_MS;

  it('is removed with its counter, and those of other periods stay', async () => {
    await tables.reservations.reserve(reservation(1));
    await tables.reservations.reserve(
      reservation(2, { reservedMs: later, charges: [charge({ period: localPeriodAt('day', 'UTC', later) })] }),
    );
    expect(await tables.rows.removeEnded(later)).toBe(1);
    expect(await tables.rows.removeEnded(later)).toBe(0);
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-04 00:00': 1 });
  });

  it('stays as long as a longer period that it counts in', async () => {
    await tables.reservations.reserve(reservation(1));
    await tables.reservations.reserve(
      reservation(2, { charges: [charge({ period: localPeriodAt('month', 'UTC', NOON_MS) })] }),
    );
    expect(await tables.rows.removeEnded(later)).toBe(0);
    expect(await usedNow()).toEqual({ 'pol_1/daily calls 10-01 00:00': 2 });
  });
});

it('the amount used is returned whether or not there is a counter yet', async () => {
  await tables.reservations.reserve(reservation(1, { charges: [EUR] }));
  const { startsMs, endsMs } = EUR.period;
  const counted = [
    { budget: 'pol_1/daily', unit: 'eur', startsMs, endsMs },
    { budget: 'pol_1/daily', unit: 'eur', startsMs, endsMs: endsMs + 1 },
    { budget: 'pol_1/other', unit: 'eur', startsMs, endsMs },
  ];
  expect(await tables.reservations.used(counted)).toEqual([400, 400, 0]);
});

it.each(['settle_budgets', 'free_budgets'])('%s joins large batches in another way than row by row', async (name) => {
  const { rows } = await tables.pool.query<{ proconfig: string[] }>(
    `select proconfig from pg_proc where pronamespace = 'gate'::regnamespace and proname = $1`,
    [name],
  );
  expect(rows).toEqual([{ proconfig: ['enable_nestloop=off'] }]);
});
