import type { Digest } from '#libs/crypto';
import type { ActionId, LocalPeriod, Position } from '../../kernel/index.js';

/** `calls`, or a currency (ISO 4217, lower case), in which amounts are in its smallest unit. */
export type BudgetUnit = string;

export const CALLS: BudgetUnit = 'calls';

/** What a call would use up of one bound of a budget. */
export interface WantedCharge {
  /** `<policy>/<id of the budget>`, `<agent>/calls_per_day` or `<agent>/spend_per_day`. */
  readonly budget: string;
  readonly unit: BudgetUnit;
  readonly amount: number;
  /** The most that all charges of the period may add up to, this one included. */
  readonly limit: number;
  readonly period: LocalPeriod;
}

/** The charges of one submission. Either all of them are reserved or none. */
export interface WantedReservation {
  readonly action: ActionId;
  /** Digest of the request. The same action id with another digest is another submission. */
  readonly digest: Digest;
  /** Time of the submission, in Unix milliseconds. */
  readonly reservedMs: number;
  readonly charges: readonly WantedCharge[];
}

export type ReservationAnswer =
  /**
   * The reserved charges, in the order of the request. A submission that reserved before (a retry) keeps the period and
   * the amount of its first reservation.
   */
  | { readonly isReserved: true; readonly charges: readonly WantedCharge[] }
  /** `exceeded`: the first charge that does not fit under its limit. The request has reserved nothing new. */
  | { readonly isReserved: false; readonly exceeded: WantedCharge };

/** A bound of a budget in one period. */
export type CountedPeriod = Pick<WantedCharge, 'budget' | 'unit'> & Pick<LocalPeriod, 'startsMs' | 'endsMs'>;

/**
 * Reservations of budgets: rows that are written before the append of the submission (docs/adr/0023), so that
 * concurrent calls together stay within each limit. The log decides whether a reservation counts; `BudgetRows` brings
 * the rows into line with it. A reservation counts by its moment: in every period of its budget and unit that contains
 * the moment, also in one of another length or time zone than that in which it was made.
 */
export abstract class BudgetReservations {
  /**
   * Reserves all charges of the call, or none. Charges that the same submission has already reserved are not counted
   * again.
   * @throws {DomainError} service_unavailable if the rows are still behind the log
   * @throws {StoreUnavailable}
   */
  abstract reserve(wanted: WantedReservation): Promise<ReservationAnswer>;
  /**
   * Frees the reservations of a submission that was not recorded, except those that the log has confirmed.
   * @throws {StoreUnavailable}
   */
  abstract free(action: ActionId, digest: Digest): Promise<void>;
  /**
   * The amounts used so far, in the order of the request. For display only; no decision uses them.
   * @throws {StoreUnavailable}
   */
  abstract used(counted: readonly CountedPeriod[]): Promise<readonly number[]>;
}

/** The same rows, for the sweepers that bring them into line with the log. */
export abstract class BudgetRows {
  /** Actions with reservations made up to that time which the log has not confirmed, oldest first. */
  abstract unconfirmed(reservedUpToMs: number, limit: number): Promise<readonly ActionId[]>;
  /**
   * Frees the reservations that these actions made up to that time and the log has not confirmed.
   * @returns the number of rows
   */
  abstract freeUnconfirmed(actions: readonly ActionId[], reservedUpToMs: number): Promise<number>;
  /** Waits until the rows reflect the log up to `position`. False on timeout. */
  abstract reach(position: Position, timeoutMs: number): Promise<boolean>;
  /**
   * Removes the rows of periods that ended before that time.
   * @returns the number of rows
   */
  abstract removeEnded(beforeMs: number): Promise<number>;
}
