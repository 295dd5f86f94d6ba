import type { ApprovalPlaces } from '../approvals/index.js';
import type { BudgetReservations } from '../budgets/index.js';
import { GateKernel, type GateKernelParts } from '../kernel/index.js';
import type { IntentNonces } from './intent-nonces.port.js';

/** Adds to the dependencies of every handler what a submission reserves before its append. */
export class AdmissionKernel extends GateKernel {
  readonly nonces: IntentNonces;
  readonly budgets: BudgetReservations;
  readonly places: ApprovalPlaces;

  constructor({
    nonces,
    budgets,
    places,
    ...parts
  }: GateKernelParts & { nonces: IntentNonces; budgets: BudgetReservations; places: ApprovalPlaces }) {
    super(parts);
    this.nonces = nonces;
    this.budgets = budgets;
    this.places = places;
  }
}
