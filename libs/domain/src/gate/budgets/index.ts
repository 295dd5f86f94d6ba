export {
  BudgetReservations,
  BudgetRows,
  CALLS,
  type CountedPeriod,
  type ReservationAnswer,
  type WantedCharge,
  type WantedReservation,
} from './budget-reservations.port.js';
export { type SettlementChange, settlementChange } from './budget-settlement.process.js';
export {
  type BoundedAgent,
  boundsOf,
  boundsOfAgent,
  boundOfSpend,
  boundsOfPolicy,
  type BudgetBound,
  callsPerDayOf,
  chargesOf,
  countedPeriodOf,
  exceeded,
  idOf,
  notCounted,
  notKnown,
  ownerOf,
  recordedCharge,
  spendPerDayOf,
  uncountable,
} from './budgets.js';
export { type CallCost, costIn, medianExceededBy, paymentsIn } from './call-cost.js';
export { ReservationSweeper } from './reservation-sweeper.js';
