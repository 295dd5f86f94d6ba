import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import type { RequestFacts } from '#libs/domain/connectors';
import { GivenPayments } from './testing/given-payments.js';

let payments: GivenPayments;
let charge: string;
beforeEach(async () => {
  payments = await GivenPayments.start();
  charge = payments.wire.charge();
});
afterEach(() => payments.close());

const refundOf = (more: JsonObject = {}): JsonObject => ({ charge, amount: 500, ...more });

it('people are told whether a refund can be sent, by its arguments and by its charge', async () => {
  const preview = (more: JsonObject, facts: RequestFacts = {}) =>
    payments.driver.previewOf(payments.connector, 'create_refund', refundOf(more), facts);
  const { facts } = await payments.facts('create_refund', refundOf());
  expect(preview({}, facts)).toMatchObject({ fault: null, request: { method: 'POST' } });
  expect(preview({ amount: 10_001 }).fault).toBeNull();
  expect(preview({ amount: 10_001 }, facts).fault).toContain('at most 10000 for one refund in eur');
  expect(preview({ currency: 'jpy', amount: 1 }, facts).fault).toContain('must be the currency that was charged');
});

it('facts name the request, also where the processor was read', async () => {
  const http = { method: 'POST', path: '/v1/refunds', host: new URL(payments.wire.baseUrl).host };
  expect(payments.driver.requestFacts(payments.connector, 'create_refund', refundOf())).toMatchObject({ http });
  expect((await payments.facts('create_refund', refundOf())).facts).toMatchObject({ http, payments: { charge } });
  const subscription = payments.wire.subscription();
  expect((await payments.facts('cancel_subscription', { subscription })).facts).toMatchObject({
    http: { path: `/v1/subscriptions/${subscription}` },
    payments: { subscription },
  });
});

it('an agent reads which reasons its connector allows', async () => {
  const propertiesOf = ({ driver, connector }: GivenPayments) =>
    (driver.toolOf(connector, 'create_refund')?.inputSchema as JsonObject)['properties'] as JsonObject;
  const strict = await GivenPayments.start({ refund_reasons: ['duplicate'] });
  const silent = await GivenPayments.start({ refund_reasons: [] });
  expect(propertiesOf(payments)['reason']).toMatchObject({
    enum: ['duplicate', 'fraudulent', 'requested_by_customer'],
  });
  expect(propertiesOf(strict)['reason']).toMatchObject({ enum: ['duplicate'] });
  expect(propertiesOf(silent)).not.toHaveProperty('reason');
  await Promise.all([strict.close(), silent.close()]);
});

it('a key without a permission is told apart from one that is refused', async () => {
  const refused = (status: number) => {
    payments.wire.quirk = ({ method }) => (method === 'GET' ? null : { status, body: { error: { message: 'No.' } } });
    return payments.send('create_refund', refundOf());
  };
  const [forbidden, unknown] = [await refused(403), await refused(401)];
  expect([forbidden.errorCode, unknown.errorCode]).toEqual(['upstream_auth_failed', 'upstream_auth_failed']);
  expect(forbidden.errorMessage).toContain('lacks a permission');
  expect(unknown.errorMessage).not.toContain('lacks a permission');
});

it('a subscription that was ended at once is confirmed, though a second request for it finds nothing', async () => {
  const subscription = payments.wire.subscription();
  const args = { subscription, at_period_end: false };
  payments.wire.quirk = ({ method }) => (method === 'DELETE' ? 'answer_lost' : null);
  expect(await payments.send('cancel_subscription', args)).toMatchObject({ status: 'unknown' });
  payments.wire.quirk = () => null;
  expect(await payments.send('cancel_subscription', args, { attempt: 2 })).toMatchObject({
    errorCode: 'upstream_not_found',
  });
  expect(await payments.observe('cancel_subscription', args, null)).toMatchObject({ verdict: 'VERIFIED' });
});

it('a customer who is gone by then proves nothing of what was written', async () => {
  const args = { customer: payments.wire.customer(), metadata: { tier: 'gold' } };
  const { result } = await payments.send('update_customer_metadata', args);
  payments.wire.customers.set(args.customer, { id: args.customer, object: 'customer', deleted: true });
  expect(await payments.observe('update_customer_metadata', args, result)).toMatchObject({
    ...{ verdict: 'UNVERIFIABLE', reasons: ['deleted'] },
  });
});

it.each([
  ['failed', 'MISMATCH', 'status'],
  ['canceled', 'MISMATCH', 'status'],
  ['requires_action', 'UNVERIFIABLE', 'requires_action'],
  [null, 'UNVERIFIABLE', 'status_unknown'],
])('a refund whose status is %s is %s', async (status, verdict, reason) => {
  const { result } = await payments.send('create_refund', refundOf());
  Object.assign(payments.wire.refunds[0] ?? {}, { status });
  expect(await payments.observe('create_refund', refundOf(), result)).toMatchObject({ verdict, reasons: [reason] });
});

it.each([{ status: 'failed' }, { status: 'pending' }])(
  'of a charge that is %j nothing can be given back yet',
  async (changes) => {
    const reserved = payments.wire.charge(changes);
    const { facts } = await payments.facts('create_refund', { charge: reserved, amount: 1 });
    expect(facts.payments).toMatchObject({ enriched: true, charge_amount: 10_000, refundable: null });
  },
);

it.each([
  ['metered', { recurring: { interval: 'month', interval_count: 1, usage_type: 'metered' } }, false],
  ['sold in packages', { transform_quantity: { divide_by: 10, round: 'up' } }, false],
  ['one of many items', {}, true],
])('what a period costs is not known where it is %s', async (_, changes, has_more) => {
  const price = { unit_amount: 2_000, recurring: { interval: 'month', interval_count: 1 }, ...changes };
  const items = { object: 'list', has_more, data: [{ quantity: 2, price, current_period_end: 1_800_000_000 }] };
  const { facts } = await payments.facts('cancel_subscription', {
    subscription: payments.wire.subscription({ items }),
  });
  expect(facts.payments).toMatchObject({ enriched: true, amount_per_period: null, amount_display: null });
});
