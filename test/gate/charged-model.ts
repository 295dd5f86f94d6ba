import { settlementChange, type BudgetCharge } from '#libs/domain/gate';
import type { DomainEvent } from '#libs/domain/kernel';
import { NOW } from '../support/given.js';
import { CHARGED, type ActionModel } from './action-model.js';

const period = { period: 'day:2026-10-01', starts_at: NOW, resets_at: NOW };

/** The model's charge, in the form of a decision's charges. */
export const CHARGES: readonly BudgetCharge[] = [
  { budget: 'pol_1/daily', calls: CHARGED.calls, amount: null, currency: null, limit: 10, ...period },
  { budget: 'pol_1/daily', calls: 0, amount: CHARGED.money, currency: 'eur', limit: 500, ...period },
];

/** What an action is charged after its events, according to the settlement of budgets. */
export const heldAfter = (events: readonly DomainEvent[]): ActionModel['held'] =>
  events.reduce<ActionModel['held']>(
    (held, event) => {
      const change = settlementChange(event);
      switch (change?.change) {
        case 'charged':
          return {
            calls: change.charges.reduce((sum, { calls }) => sum + calls, 0),
            money: change.charges.reduce((sum, { amount }) => sum + (amount ?? 0), 0),
          };
        case 'given_back':
          return { calls: 0, money: 0 };
        case 'unspent':
          return { ...held, money: 0 };
        default:
          return held;
      }
    },
    { calls: 0, money: 0 },
  );
