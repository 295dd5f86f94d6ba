import type { Digest } from '#libs/crypto';
import type { ActionId, LocalPeriod, Position } from '../kernel/index.js';

/** What a counter counts: calls, or money in the smallest unit of a currency (ISO 4217, lower case). */
export type BudgetUnit = string;

export const CALLS: BudgetUnit = 'calls';

/** What a call would use up of one bound of a budget. */
export interface WantedCharge {
  /** `<policy>/<id of the budget>`, `<agent>/calls_per_day` or `<agent>/spend_per_day`. */
  readonly budget: string;
  readonly unit: BudgetUnit;
  readonly amount: number;
  /** All charges of the period together, this one included, are at most that much. */
  readonly limit: number;
  readonly period: LocalPeriod;
}

/** The charges of one submission, to be held all or none. */
export interface WantedReservation {
  readonly action: ActionId;
  /** Of the call as it was sent: the same action with another digest is another submission. */
  readonly digest: Digest;
  /** Unix milliseconds, of the submission. */
  readonly reservedMs: number;
  readonly charges: readonly WantedCharge[];
}

export type ReservationAnswer =
  /** As they are held, in the order asked for: a submission that reserved before keeps the period that it reserved in. */
  | { readonly isReserved: true; readonly charges: readonly WantedCharge[] }
  /** The first of them that has no room. Nothing of this answer's call is held that was not held before. */
  | { readonly isReserved: false; readonly exceeded: WantedCharge };

/** A bound of a budget in one period. */
export type CountedPeriod = Pick<WantedCharge, 'budget' | 'unit'> & Pick<LocalPeriod, 'startsMs' | 'endsMs'>;

/**
 * What calls hold of budgets: rows beside the log, written before the append of the submission (docs/adr/0023), so that no
 * number of calls at once uses up more than there is. What a row is worth is for the log to say: `BudgetRows` settles it.
 */
export abstract class BudgetReservations {
  /**
   * Holds all charges of the call, or none. Those that the same submission holds already are held and not counted again.
   * @throws {DomainError} service_unavailable: the rows do not hold yet what the log says
   * @throws {StoreUnavailable}
   */
  abstract reserve(wanted: WantedReservation): Promise<ReservationAnswer>;
  /**
   * Lets go what a submission holds that nothing came of, but for what the log has confirmed.
   * @throws {StoreUnavailable}
   */
  abstract free(action: ActionId, digest: Digest): Promise<void>;
  /**
   * What is used up, in the order asked for. For people to look at: no decision rests on it.
   * @throws {StoreUnavailable}
   */
  abstract used(counted: readonly CountedPeriod[]): Promise<readonly number[]>;
}

/** The same rows, as whoever keeps them true sees them. */
export abstract class BudgetRows {
  /** Actions that reserved up to then and that the log has not confirmed, the longest ago first. */
  abstract unconfirmed(reservedUpToMs: number, limit: number): Promise<readonly ActionId[]>;
  /**
   * Lets go what these actions reserved up to then and the log has not confirmed.
   * @returns how many rows
   */
  abstract freeUnconfirmed(actions: readonly ActionId[], reservedUpToMs: number): Promise<number>;
  /** Waits until the rows hold all that the log says up to there. False when they do not in time. */
  abstract reach(position: Position, timeoutMs: number): Promise<boolean>;
  /**
   * Removes what is of periods that ended before then.
   * @returns how many rows
   */
  abstract removeEnded(beforeMs: number): Promise<number>;
}
