import type pg from 'pg';
import type { LeaseSession } from '#libs/infra/leases';
import { answered } from '#libs/infra/postgres';
import { BudgetRows } from '#libs/domain/gate';
import type { ActionId, EventStore, Position, Subscription } from '#libs/domain/kernel';
import { LogFold, type FoldedRows } from './log-fold.js';
import { SettlementBatch } from './settlement-batch.js';

/** How long rows of ended periods are kept: for a worker that is behind, and to display yesterday's use. */
export const KEPT_AFTER_PERIOD_MS = 48 * 60 * 60 * 1000;

export class PostgresBudgetRows extends BudgetRows {
  private readonly fold: LogFold<never>;

  constructor(
    private readonly pool: pg.Pool,
    store: EventStore,
  ) {
    super();
    this.fold = new LogFold(pool, store, ROWS);
  }

  override async unconfirmed(reservedUpToMs: number, limit: number): Promise<readonly ActionId[]> {
    const { rows } = await answered(
      this.pool.query<{ action: ActionId }>(
        `select action from gate.budget_reservations where not is_confirmed and at_ms <= $1
          group by action order by min(at_ms), action limit $2`,
        [reservedUpToMs, limit],
      ),
    );
    return rows.map(({ action }) => action);
  }

  override async freeUnconfirmed(actions: readonly ActionId[], reservedUpToMs: number): Promise<number> {
    const { rows } = await answered(
      this.pool.query<{ freed: string }>(`select gate.free_budgets($1, null, $2) as freed`, [actions, reservedUpToMs]),
    );
    return Number(rows[0]?.freed);
  }

  /** {@link LogFold.reach} */
  override reach(position: Position, timeoutMs: number): Promise<boolean> {
    return this.fold.reach(position, timeoutMs);
  }

  /**
   * A row of an ended period stays while it also counts in a longer period that has not ended. That happens if the
   * budget was given another period.
   */
  override async removeEnded(beforeMs: number): Promise<number> {
    const { rowCount } = await answered(
      this.pool.query(
        `delete from gate.budget_reservations r
          where r.ends_ms < $1
            and not exists (select from gate.budget_counters k
                             where k.budget = r.budget and k.unit = r.unit and k.starts_ms <= r.at_ms
                               and k.ends_ms > r.at_ms and k.ends_ms >= $1)`,
        [beforeMs],
      ),
    );
    await answered(this.pool.query(`delete from gate.budget_counters where ends_ms < $1`, [beforeMs]));
    return rowCount ?? 0;
  }

  /** {@link LogFold.follow} */
  follow(session: LeaseSession, onError: (error: unknown) => void): Promise<Subscription> {
    return this.fold.follow(session, onError);
  }
}

const ROWS: FoldedRows<never> = {
  name: 'budgets',
  empty: (session) => session.query(`select gate.forget_budgets()`),
  apply: async (session, events, { storeId, position }) => {
    await session.query(
      `select gate.settle_budgets($1, $2, $3::text[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[],
         $9::bigint[], $10::bigint[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[])`,
      [storeId, String(position), ...SettlementBatch.of(events).values()],
    );
    return [];
  },
};
