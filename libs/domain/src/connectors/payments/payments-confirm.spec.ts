import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '#libs/crypto';
import { judgeConfirmation, planConfirmation, readBackTermsOf } from './payments-confirm.js';
import { PAYMENTS_TOOLS } from './payments-tools.js';

const action = 'act_1';
const answered = (id: string): JsonObject => ({ status: 200, headers: {}, body: { id } });
const REFUND_ARGS = { charge: 'ch_1', amount: 500, currency: 'eur' };
const refund = (changes: JsonObject = {}): JsonObject => ({
  ...{ object: 'refund', id: 're_1', charge: 'ch_1', payment_intent: null, amount: 500, currency: 'eur' },
  ...{ status: 'succeeded', metadata: { service_action_id: action } },
  ...changes,
});
const judged = (toolName: string, args: JsonObject, body: JsonValue | undefined, isSearch = false) => {
  const { verdict, reasons } = judgeConfirmation({ isSearch }, { toolName, args, action, result: null }, body);
  return [verdict, ...reasons];
};

it('every tool that changes something is confirmed, and no other', () =>
  expect(PAYMENTS_TOOLS.filter(({ name }) => readBackTermsOf(name) !== null).map(({ name }) => name)).toEqual(
    PAYMENTS_TOOLS.filter(({ sideEffect }) => sideEffect !== 'read').map(({ name }) => name),
  ));

describe('the read that confirms a write', () => {
  it.each([
    ['create_refund', REFUND_ARGS, answered('re_1'), '/v1/refunds/re_1'],
    ['create_refund', REFUND_ARGS, null, '/v1/refunds?charge=ch_1&limit=100'],
    ['create_refund', { payment_intent: 'pi_1', amount: 5 }, null, '/v1/refunds?payment_intent=pi_1&limit=100'],
    ['create_refund', REFUND_ARGS, answered('../../v1/customers'), '/v1/refunds?charge=ch_1&limit=100'],
    ['create_invoice_item', { customer: 'cus_1' }, answered('ii_1'), '/v1/invoiceitems/ii_1'],
    ['create_invoice_item', { customer: 'cus_1' }, null, '/v1/invoiceitems?customer=cus_1&limit=100'],
    ['update_customer_metadata', { customer: 'cus_1' }, null, '/v1/customers/cus_1'],
    ['cancel_subscription', { subscription: 'sub_1' }, null, '/v1/subscriptions/sub_1'],
  ] as const)('of %s with %j after %j is %s', (toolName, args, result, line) => {
    const plan = planConfirmation(toolName, args, result);
    if (typeof plan === 'string') throw new Error(plan);
    const query = plan.query.map((pair) => pair.join('=')).join('&');
    expect(`${plan.path}${query === '' ? '' : `?${query}`}`).toBe(line);
  });
});

describe('what the processor shows of a refund', () => {
  it.each([
    ['there', {}, ['VERIFIED']],
    ['on its way', { status: 'pending' }, ['VERIFIED']],
    ['waiting for the customer', { status: 'requires_action' }, ['UNVERIFIABLE', 'requires_action']],
    ['failed', { status: 'failed' }, ['MISMATCH', 'status']],
    ['canceled', { status: 'canceled' }, ['MISMATCH', 'status']],
    ['of another amount', { amount: 5_000 }, ['MISMATCH', 'amount']],
    ['of another charge', { charge: 'ch_2' }, ['MISMATCH', 'charge']],
    ['in another currency', { currency: 'usd' }, ['MISMATCH', 'currency']],
    ['of another action', { metadata: { service_action_id: 'act_2' } }, ['MISMATCH', 'metadata.service_action_id']],
    ['of nobody', { metadata: {} }, ['MISMATCH', 'metadata.service_action_id']],
    ['with its charge in the place of the id', { charge: { id: 'ch_1', object: 'charge' } }, ['VERIFIED']],
  ] as const)('%s', (_, changes, verdict) =>
    expect(judged('create_refund', REFUND_ARGS, refund(changes as JsonObject))).toEqual(verdict),
  );

  it('is found by the action where nobody knows its id, and unverifiable where it is not there', () => {
    const list = (...data: JsonObject[]): JsonObject => ({ object: 'list', data });
    const other = refund({ id: 're_2', metadata: { service_action_id: 'act_2' } });
    expect(judged('create_refund', REFUND_ARGS, list(other, refund()), true)).toEqual(['VERIFIED']);
    expect(judged('create_refund', REFUND_ARGS, list(other), true)).toEqual(['UNVERIFIABLE', 'not_found']);
  });

  it('is unverifiable by an answer that is none', () =>
    expect(judged('create_refund', REFUND_ARGS, undefined)).toEqual(['UNVERIFIABLE', 'answer_not_kept']));
});

describe('what the processor shows of other writes', () => {
  const metadata = { service_action_id: action };
  const customer = { customer: 'cus_1', metadata: { tier: 'gold', 'a.b': 'c', old: '' } };
  const shown = { id: 'cus_1', metadata: { ...metadata, tier: 'gold', 'a.b': 'c' } };
  it.each([
    ['create_invoice_item', { customer: 'cus_1', amount: 5 }, { customer: 'cus_1', amount: 5, metadata }, ['VERIFIED']],
    [
      'create_invoice_item',
      { customer: 'cus_1', amount: 5 },
      { customer: 'cus_1', amount: 6, metadata },
      ['MISMATCH', 'amount'],
    ],
    ['update_customer_metadata', customer, shown, ['VERIFIED']],
    [
      'update_customer_metadata',
      customer,
      { ...shown, metadata: { ...shown.metadata, old: 'x' } },
      ['MISMATCH', 'metadata.old'],
    ],
    [
      'update_customer_metadata',
      customer,
      { ...shown, metadata: { ...shown.metadata, service_action_id: 'act_2' } },
      ['UNVERIFIABLE', 'another_action'],
    ],
    [
      'cancel_subscription',
      { subscription: 'sub_1' },
      { id: 'sub_1', cancel_at_period_end: true, metadata },
      ['VERIFIED'],
    ],
    [
      'cancel_subscription',
      { subscription: 'sub_1' },
      { id: 'sub_1', cancel_at_period_end: false, metadata },
      ['MISMATCH', 'cancel_at_period_end'],
    ],
    [
      'cancel_subscription',
      { subscription: 'sub_1', at_period_end: false },
      { id: 'sub_1', status: 'canceled', cancellation_details: { comment: `service_action_id ${action}` } },
      ['VERIFIED'],
    ],
    [
      'cancel_subscription',
      { subscription: 'sub_1', at_period_end: false },
      { id: 'sub_1', status: 'active' },
      ['MISMATCH', 'status', 'cancellation_details.comment'],
    ],
  ] as const)('%s with %j as %j', (toolName, args, body, verdict) =>
    expect(judged(toolName, args, body as JsonObject)).toEqual(verdict),
  );
});
