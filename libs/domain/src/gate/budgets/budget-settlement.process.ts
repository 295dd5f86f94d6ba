import type { CallCost } from '../../connectors/index.js';
import type { ActionId, DomainEvent, Timestamp } from '../../kernel/index.js';
import type { ActionEvent, BudgetCharge } from '../action/index.js';

export type SettlementChange =
  /** The decision is in the log, so the action's charges are confirmed. */
  | {
      readonly change: 'charged';
      readonly action: ActionId;
      readonly charges: readonly BudgetCharge[];
      readonly at: Timestamp;
    }
  /** The action never ran, so everything that it was charged is free again. */
  | { readonly change: 'given_back'; readonly action: ActionId }
  /** The call was sent but certainly not applied: it counts as a call, and its money is free again. */
  | { readonly change: 'unspent'; readonly action: ActionId }
  /** The actual cost replaces the expected one. */
  | { readonly change: 'spent'; readonly action: ActionId; readonly cost: CallCost };

/**
 * How an event changes what an action is charged, from its decision on. An unknown outcome changes nothing, because the
 * call may have run.
 */
export const settlementChange = (event: DomainEvent): SettlementChange | null => {
  const known = event as ActionEvent;
  switch (known.type) {
    case 'ActionDecided': {
      const { action, charges = [], at } = known.data;
      return charges.length === 0 ? null : { change: 'charged', action, charges, at };
    }
    case 'ApprovalDecided':
      return known.data.outcome === 'denied' ? { change: 'given_back', action: known.data.action } : null;
    case 'ApprovalExpired':
    case 'ActionCancelled':
      return { change: 'given_back', action: known.data.action };
    case 'ExecutionFinished': {
      const { action, attempt, status, cost } = known.data;
      if (status === 'failed') return { change: attempt === 0 ? 'given_back' : 'unspent', action };
      return cost === undefined ? null : { change: 'spent', action, cost };
    }
    case 'EdgeReported':
      return known.data.status === 'failed' ? { change: 'unspent', action: known.data.action } : null;
    default:
      return null;
  }
};
