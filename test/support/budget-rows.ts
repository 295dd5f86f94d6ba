import pg from 'pg';
import { digestOf } from '#libs/crypto';
import type { WantedCharge, WantedReservation } from '#libs/domain/gate';
import { idOf, type ActionId, type EventStore, localPeriodAt, type Position } from '#libs/domain/kernel';
import { PostgresEventStore } from '#libs/infra/event-store';
import { PostgresBudgetReservations, PostgresBudgetRows } from '#libs/infra/gate';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase } from './database.js';

export const NOON_MS = Date.parse('2026-10-01T12:00:00.000Z');

export const actionId = (number: number): ActionId => idOf('act', Buffer.from(String(number).padStart(16, '0')));

/** One of the budget `pol_1/daily`, in UTC. */
export const charge = (changes: Partial<WantedCharge> = {}): WantedCharge => ({
  budget: 'pol_1/daily',
  unit: 'calls',
  amount: 1,
  limit: 10,
  period: localPeriodAt('day', 'UTC', NOON_MS),
  ...changes,
});

export const reservation = (number: number, changes: Partial<WantedReservation> = {}): WantedReservation => ({
  action: actionId(number),
  digest: digestOf(`call ${number}`),
  reservedMs: NOON_MS,
  charges: [charge()],
  ...changes,
});

/** Rows of budgets on a database of their own, beside an empty log. */
export class BudgetTables {
  reservations: PostgresBudgetReservations;
  readonly rows: PostgresBudgetRows;

  private constructor(
    readonly pool: pg.Pool,
    readonly store: EventStore,
    private readonly drop: () => Promise<void>,
  ) {
    this.reservations = this.process();
    this.rows = new PostgresBudgetRows(pool, store);
  }

  static async open(): Promise<BudgetTables> {
    const database = await createTestDatabase();
    const { connectionString } = database;
    const pool = new pg.Pool({ connectionString, max: 8 });
    pool.on('error', () => undefined);
    await installSchemas(pool, ['gate']);
    const common = { connectionString, applicationName: 'budgets', onConnectionLost: () => undefined };
    const store = new PostgresEventStore(common);
    return new BudgetTables(pool, store, async () => {
      await store.close();
      await pool.end();
      await database.drop();
    });
  }

  close(): Promise<void> {
    return this.drop();
  }

  /** Empties the rows, and begins a process that finds them where the log ends. */
  async begin(): Promise<void> {
    await this.pool.query(`truncate gate.budget_reservations, gate.budget_counters, gate.checkpoint`);
    await this.store.storeId();
    await this.settleUpTo(await this.store.head());
    this.reservations = this.process();
  }

  /** As if the rows held all that the log says up to there. */
  async settleUpTo(position: Position): Promise<void> {
    await this.pool.query(
      `insert into gate.checkpoint (name, store_id, position) values ('budgets', $1, $2)
       on conflict (name) do update set position = excluded.position`,
      [await this.store.storeId(), String(position)],
    );
  }

  /** Another process on the same rows. */
  process(waitMs = 0): PostgresBudgetReservations {
    return new PostgresBudgetReservations(this.pool, this.store, waitMs);
  }

  /** What each counter holds, beside what its reservations come to: a counter is their sum, and nothing else. */
  async counters(): Promise<readonly { readonly name: string; readonly used: number; readonly summed: number }[]> {
    const { rows } = await this.pool.query<{ name: string; used: string; summed: string }>(
      `select k.budget || ' ' || k.unit || ' ' || to_char(to_timestamp(k.starts_ms / 1000.0) at time zone 'UTC', 'MM-DD HH24:MI') as name,
              k.used, (select coalesce(sum(r.amount), 0) from gate.budget_reservations r
                        where r.budget = k.budget and r.unit = k.unit
                          and r.at_ms >= k.starts_ms and r.at_ms < k.ends_ms) as summed
         from gate.budget_counters k order by name`,
    );
    return rows.map(({ name, used, summed }) => ({ name, used: Number(used), summed: Number(summed) }));
  }

  /** Every row as it stands, but for what a submission looked like. */
  async dump(): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ row: string }>(
      `select concat_ws(' ', action, budget, unit, period, amount, at_ms, is_confirmed) as row
         from gate.budget_reservations order by 1`,
    );
    return rows.map(({ row }) => row);
  }
}
