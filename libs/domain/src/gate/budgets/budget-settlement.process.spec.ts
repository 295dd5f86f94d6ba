import { describe, expect, it } from 'vitest';
import { allowed, finished, started, testId, testTime } from '../../../../../test/support/given-log.js';
import type { ActionEvent, BudgetCharge } from '../action/index.js';
import { settlementChange } from './budget-settlement.process.js';

const ACTION = testId('act', 1);
const about = { action: ACTION, approval: testId('apr', 1), at: testTime(1) };
const CHARGE: BudgetCharge = {
  budget: 'pol_1/daily',
  period: 'day:2026-10-01',
  calls: 1,
  amount: null,
  currency: null,
  limit: 5,
  starts_at: testTime(0),
  resets_at: testTime(9),
};

const decided = (charges?: readonly BudgetCharge[]): ActionEvent => ({
  type: 'ActionDecided',
  data: { action: ACTION, decision: allowed, at: testTime(1), ...(charges === undefined ? {} : { charges }) },
});
const ofType = <Type extends ActionEvent['type']>(type: Type, data: object): ActionEvent =>
  ({ type, data: { ...about, ...data } }) as unknown as ActionEvent;

describe('what the log says of reservations', () => {
  it('a decision confirms its charges, if it has any', () => {
    expect(settlementChange(decided([CHARGE]))).toEqual({
      change: 'charged',
      action: ACTION,
      charges: [CHARGE],
      at: testTime(1),
    });
    expect([settlementChange(decided([])), settlementChange(decided())]).toEqual([null, null]);
  });

  it.each([
    ['a no of a person', ofType('ApprovalDecided', { outcome: 'denied' })],
    ['the end of its time', ofType('ApprovalExpired', {})],
    ['a cancellation', ofType('ActionCancelled', {})],
    ['a call that nobody took up', ofType('ExecutionFinished', { status: 'failed', attempt: 0 })],
  ])('%s gives back all', (_, event) =>
    expect(settlementChange(event)).toEqual({ change: 'given_back', action: ACTION }),
  );

  it.each([
    ['a call that was certainly not applied', ofType('ExecutionFinished', { status: 'failed', attempt: 1 })],
    ['so one at the edge', ofType('EdgeReported', { status: 'failed' })],
    [
      'whatever it said that it spent',
      ofType('ExecutionFinished', { status: 'failed', attempt: 2, cost: { amount: 1, currency: 'eur' } }),
    ],
  ])('%s has spent nothing', (_, event) =>
    expect(settlementChange(event)).toEqual({ change: 'unspent', action: ACTION }),
  );

  it('the cost that the tool reports replaces the expected cost', () => {
    const cost = { amount: 340, currency: 'eur' };
    const event = ofType('ExecutionFinished', { status: 'succeeded', attempt: 1, cost });
    expect(settlementChange(event)).toEqual({ change: 'spent', action: ACTION, cost });
  });

  it.each([
    ['a yes', ofType('ApprovalDecided', { outcome: 'approved' })],
    ['an outcome that says nothing of money', finished(1)],
    ['an outcome that nobody knows', ofType('ExecutionFinished', { status: 'unknown', attempt: 1 })],
    ['a report that never came', ofType('EdgeLost', {})],
    ['a submission', started(1)[0]],
  ])('%s changes nothing', (_, event) => expect(settlementChange(event as ActionEvent)).toBeNull());
});
