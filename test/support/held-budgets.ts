import {
  BudgetReservations,
  type CountedPeriod,
  type ReservationAnswer,
  type WantedCharge,
  type WantedReservation,
} from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';

/** Reservations of one process, for tests that need no database. Nothing settles them. */
export class HeldBudgets extends BudgetReservations {
  readonly rows = new Map<string, WantedCharge>();

  override reserve({ action, digest, charges }: WantedReservation): Promise<ReservationAnswer> {
    const keyOf = ({ budget, unit }: WantedCharge): string => `${action} ${digest} ${budget} ${unit}`;
    const missing = charges.filter((charge) => !this.rows.has(keyOf(charge)));
    const exceeded = missing.find((charge) => this.usedOf(countedOf(charge)) + charge.amount > charge.limit);
    if (exceeded) return Promise.resolve({ isReserved: false, exceeded });
    for (const charge of missing) this.rows.set(keyOf(charge), charge);
    return Promise.resolve({
      isReserved: true,
      charges: charges.map((charge) => this.rows.get(keyOf(charge)) ?? charge),
    });
  }

  override free(action: ActionId, digest: string): Promise<void> {
    for (const key of this.rows.keys()) if (key.startsWith(`${action} ${digest} `)) this.rows.delete(key);
    return Promise.resolve();
  }

  override used(counted: readonly CountedPeriod[]): Promise<readonly number[]> {
    return Promise.resolve(counted.map((period) => this.usedOf(period)));
  }

  private usedOf({ budget, unit, startsMs, endsMs }: CountedPeriod): number {
    return [...this.rows.values()]
      .filter((row) => row.budget === budget && row.unit === unit)
      .filter(({ period }) => period.startsMs === startsMs && period.endsMs === endsMs)
      .reduce((sum, { amount }) => sum + amount, 0);
  }
}

const countedOf = ({ budget, unit, period }: WantedCharge): CountedPeriod => ({ budget, unit, ...period });
