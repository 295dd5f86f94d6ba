import {
  BudgetReservations,
  type CountedPeriod,
  type ReservationAnswer,
  type WantedCharge,
  type WantedReservation,
} from '#libs/domain/gate';
import type { ActionId } from '#libs/domain/kernel';

interface HeldReservation {
  readonly action: ActionId;
  readonly digest: string;
  readonly atMs: number;
  readonly charge: WantedCharge;
  readonly isConfirmed: boolean;
}

/** Reservations of one process, for tests that need no database. No log settles them. */
export class HeldBudgets extends BudgetReservations {
  private readonly rows = new Map<string, HeldReservation>();

  override reserve({ action, digest, reservedMs, charges }: WantedReservation): Promise<ReservationAnswer> {
    const keyOf = ({ budget, unit }: WantedCharge): string => `${action} ${digest} ${unit} ${budget}`;
    const missing = charges.filter((charge) => !this.rows.has(keyOf(charge)));
    const exceeded = missing.find((charge) => this.usedIn(countedOf(charge)) + charge.amount > charge.limit);
    if (exceeded) return Promise.resolve({ isReserved: false, exceeded });
    for (const charge of missing) {
      this.rows.set(keyOf(charge), { action, digest, atMs: reservedMs, charge, isConfirmed: false });
    }
    const held = charges.map((charge) => {
      const { amount, period } = this.rows.get(keyOf(charge))?.charge ?? charge;
      return { ...charge, amount, period };
    });
    return Promise.resolve({ isReserved: true, charges: held });
  }

  override free(action: ActionId, digest: string): Promise<void> {
    for (const [key, row] of this.rows) {
      if (row.action === action && row.digest === digest && !row.isConfirmed) this.rows.delete(key);
    }
    return Promise.resolve();
  }

  override used(counted: readonly CountedPeriod[]): Promise<readonly number[]> {
    return Promise.resolve(counted.map((period) => this.usedIn(period)));
  }

  /** As the log would: what this action reserved is not freed any more. */
  confirm(action: ActionId): void {
    for (const [key, row] of this.rows) if (row.action === action) this.rows.set(key, { ...row, isConfirmed: true });
  }

  /** By the moment of each reservation, whichever period it was made in. */
  private usedIn({ budget, unit, startsMs, endsMs }: CountedPeriod): number {
    return [...this.rows.values()]
      .filter(({ charge }) => charge.budget === budget && charge.unit === unit)
      .filter(({ atMs }) => atMs >= startsMs && atMs < endsMs)
      .reduce((sum, { charge }) => sum + charge.amount, 0);
  }
}

const countedOf = ({ budget, unit, period }: WantedCharge): CountedPeriod => ({ budget, unit, ...period });
