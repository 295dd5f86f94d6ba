import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import type { PaymentsConfig } from './payments-config.js';
import { limitFault, planPayments } from './payments-request.js';

const CONFIG: PaymentsConfig = {
  api_version: '2025-09-30.clover',
  refund_limits: { eur: 10_000, jpy: 900 },
  refund_reasons: ['duplicate', 'requested_by_customer'],
};
const ACTION = 'act_0123456789abcdefghjkmnpqrs';

const planned = (tool: string, args: JsonObject, action: string | null = ACTION) =>
  planPayments(CONFIG, tool, args, action);
const request = (tool: string, args: JsonObject) => {
  const plan = planned(tool, args);
  if (!plan.ok) throw new Error(plan.fault.message);
  return plan.request;
};
const faultAt = (tool: string, args: JsonObject): string | null => {
  const plan = planned(tool, args);
  return plan.ok ? null : plan.fault.param;
};
const body = (tool: string, args: JsonObject): string => decodeURIComponent(request(tool, args).body ?? '');

describe('a request to the processor', () => {
  it.each([
    ['get_customer', { customer: 'cus_1' }, 'GET /v1/customers/cus_1'],
    ['get_charge', { charge: 'py_1' }, 'GET /v1/charges/py_1'],
    ['get_payment_intent', { payment_intent: 'pi_1' }, 'GET /v1/payment_intents/pi_1'],
    ['get_subscription', { subscription: 'sub_1' }, 'GET /v1/subscriptions/sub_1'],
    ['list_charges', {}, 'GET /v1/charges?limit=10'],
    [
      'list_charges',
      { customer: 'cus_1', limit: 25, starting_after: 'ch_9' },
      'GET /v1/charges?customer=cus_1&limit=25&starting_after=ch_9',
    ],
    ['list_refunds', { charge: 'ch_1' }, 'GET /v1/refunds?charge=ch_1&limit=10'],
    ['create_refund', { charge: 'ch_1', amount: 1 }, 'POST /v1/refunds'],
    ['create_invoice_item', { customer: 'cus_1', amount: 5, currency: 'eur' }, 'POST /v1/invoiceitems'],
    ['update_customer_metadata', { customer: 'cus_1', metadata: { a: 'b' } }, 'POST /v1/customers/cus_1'],
    ['cancel_subscription', { subscription: 'sub_1' }, 'POST /v1/subscriptions/sub_1'],
  ] as const)('of %s with %j is %s', (tool, args, line) => {
    const { method, origin, path, query, headers } = request(tool, args);
    expect(`${method} ${path}${query === '' ? '' : `?${query}`}`).toBe(line);
    expect(origin).toBe('https://api.stripe.com');
    expect(headers).toContainEqual(['Stripe-Version', CONFIG.api_version]);
    const keys = headers.filter(([name]) => name === 'Idempotency-Key').map(([, value]) => value);
    expect(keys).toEqual(method === 'GET' ? [] : [ACTION]);
  });

  it('names its action in what it writes, and sends no currency of a refund', () => {
    expect(body('create_refund', { payment_intent: 'pi_1', amount: 8_000, currency: 'eur', reason: 'duplicate' })).toBe(
      `payment_intent=pi_1&amount=8000&reason=duplicate&metadata[service_action_id]=${ACTION}`,
    );
    expect(body('update_customer_metadata', { customer: 'cus_1', metadata: { 'a b': 'ü&=', gone: '' } })).toBe(
      `metadata[a b]=ü&=&metadata[gone]=&metadata[service_action_id]=${ACTION}`,
    );
    expect(body('cancel_subscription', { subscription: 'sub_1' })).toBe(
      `cancel_at_period_end=true&metadata[service_action_id]=${ACTION}`,
    );
  });

  it('cancels at once with a comment, for want of metadata', () => {
    const {
      method,
      query,
      body: none,
    } = request('cancel_subscription', { subscription: 'sub_1', at_period_end: false });
    expect([method, none]).toEqual(['DELETE', null]);
    expect(decodeURIComponent(query)).toBe(`cancellation_details[comment]=service_action_id ${ACTION}`);
  });

  it('is the same bytes each time', () => {
    const args = { charge: 'ch_1', amount: 8_000, currency: 'eur' };
    expect(JSON.stringify(request('create_refund', args))).toBe(JSON.stringify(request('create_refund', { ...args })));
  });
});

describe('a call that no request is built of', () => {
  const refund = (more: JsonObject): JsonObject => ({ charge: 'ch_1', amount: 1, ...more });
  it.each([
    ['args.amount', 'create_refund', { charge: 'ch_1' }],
    ['args.amount', 'create_refund', refund({ amount: 0 })],
    ['args.amount', 'create_refund', refund({ amount: 1.5 })],
    ['args.amount', 'create_refund', refund({ amount: '100' })],
    ['args.amount', 'create_refund', refund({ amount: 10_001, currency: 'eur' })],
    ['args.currency', 'create_refund', refund({ currency: 'usd' })],
    ['args.currency', 'create_refund', refund({ currency: 'EUR' })],
    ['args.currency', 'create_refund', refund({ currency: 'constructor' })],
    ['args.reason', 'create_refund', refund({ reason: 'fraudulent' })],
    ['args.reason', 'create_refund', refund({ reason: 'bored' })],
    ['args', 'create_refund', { amount: 1 }],
    ['args', 'create_refund', refund({ payment_intent: 'pi_1' })],
    ['args.charge', 'create_refund', refund({ charge: 'ch_1/../../customers' })],
    ['args.charge', 'create_refund', refund({ charge: 'pi_1' })],
    ['args.metadata', 'create_refund', refund({ metadata: {} })],
    ['args.limit', 'list_charges', { limit: 26 }],
    ['args', 'list_refunds', { charge: 'ch_1', payment_intent: 'pi_1' }],
    ['args.metadata', 'update_customer_metadata', { customer: 'cus_1', metadata: {} }],
    ['args.metadata', 'update_customer_metadata', { customer: 'cus_1', metadata: { a: 1 } }],
    ['args.metadata', 'update_customer_metadata', { customer: 'cus_1', metadata: { service_action_id: 'act_1' } }],
    ['args.metadata', 'update_customer_metadata', { customer: 'cus_1', metadata: { ' Deedglass_x': 'y' } }],
    ['args.metadata', 'update_customer_metadata', { customer: 'cus_1', metadata: { 'a][service_action_id': 'y' } }],
    ['args.metadata', 'update_customer_metadata', { customer: 'cus_1', metadata: { 'ａ［b': 'y' } }],
    ['args.at_period_end', 'cancel_subscription', { subscription: 'sub_1', at_period_end: 'no' }],
    ['tool', 'create_payout', {}],
    ['tool', 'constructor', {}],
  ] as const)('is at fault in %s: %s with %j', (param, tool, args) => expect(faultAt(tool, args)).toBe(param));
});

describe('the most that a refund may be', () => {
  it.each([
    ['eur', 10_000, null],
    ['eur', 10_001, 'args.amount'],
    ['jpy', 900, null],
    ['usd', 1, 'args.currency'],
    ['__proto__', 1, 'args.currency'],
  ] as const)('in %s of %i: %s', (currency, amount, param) =>
    expect(limitFault(CONFIG, { currency, amount })?.param ?? null).toBe(param),
  );
});
