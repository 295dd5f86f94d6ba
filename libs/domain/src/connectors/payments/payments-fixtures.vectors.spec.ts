import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { judgePayment } from './payments-answer.js';
import { judgeConfirmation } from './payments-confirm.js';
import { factsOfCharge, factsOfSubscription, seenCharge } from './payments-facts.js';

const { VECTORS_DIR } = process.env;
const ACTION = 'act_0000000000000000000000000a';

/** Answers as the processor publishes them for tests of its clients. */
const fixtures = (): Readonly<Record<string, JsonObject>> => {
  const file = join(VECTORS_DIR ?? '', 'payments-fixtures', 'fixtures3.json');
  return (JSON.parse(readFileSync(file, 'utf8')) as { resources: Record<string, JsonObject> }).resources;
};
const fixture = (name: string): JsonObject => fixtures()[name] as JsonObject;
/** As the processor gives back what was written under an action's id. */
const written = (name: string, changes: JsonObject = {}): JsonObject => ({
  ...fixture(name),
  metadata: { service_action_id: ACTION },
  ...changes,
});
const confirmed = (toolName: string, args: JsonObject, body: JsonObject) => {
  const { verdict, reasons } = judgeConfirmation(
    { isSearch: false },
    { toolName, args, action: ACTION, result: null },
    body,
  );
  return [verdict, ...reasons];
};

describe.skipIf(VECTORS_DIR === undefined)('the processor’s own examples of its answers', () => {
  it.each(['customer', 'payment_intent', 'refund', 'invoiceitem'])('%s is an answer of the sandbox', (name) => {
    const answer = { status: 200, body: fixture(name), header: () => null };
    expect(judgePayment(answer, false)).toMatchObject({ status: 'succeeded', breaker: null });
  });

  // Parts of these are made up, and say live mode where a sandbox would not.
  it.each(['charge', 'subscription'])('a %s that says live mode deep inside trips the breaker', (name) => {
    const judged = judgePayment({ status: 200, body: fixture(name), header: () => 'req_1' }, true);
    expect(judged.breaker).toEqual({ reason: 'livemode_detected', upstreamRequestId: 'req_1' });
  });

  it('a charge says what can be refunded', () => {
    const charge = seenCharge(fixture('charge'), { charge: fixture('charge')['id'] ?? null });
    expect(charge).toMatchObject({ currency: 'usd', amount: 100, refunded: 0, isSandbox: true });
    if (charge === null) return;
    const args = { charge: charge.id, amount: 60 };
    const nowMs = 1_234_567_890_000 + 2 * 86_400_000;
    expect(factsOfCharge(args, charge, { nowMs, recorded: null })).toMatchObject({
      cost: { amount: 60, currency: 'usd' },
      payments: { enriched: true, refundable: 100, disputed: false, charge_age_days: 2, amount_display: '$1.00' },
    });
  });

  it('a subscription says what it costs', () => {
    const packed = fixture('subscription');
    const byTheUnit = JSON.parse(
      JSON.stringify(packed, (name, value: unknown) => (name === 'transform_quantity' ? null : value)),
    ) as JsonObject;
    expect(factsOfSubscription(byTheUnit).payments).toMatchObject({
      ...{ enriched: true, status: 'active', currency: 'usd', amount_per_period: 2_000, interval: 'month' },
      current_period_end: new Date(976_287_773_000).toISOString(),
    });
    // Its price is for packages of units.
    expect(factsOfSubscription(packed).payments).toMatchObject({ amount_per_period: null, interval: 'month' });
  });

  it('a refund of ours is confirmed, and another sum is not', () => {
    const body = written('refund');
    const args = { charge: body['charge'] as string, amount: 100, currency: 'usd' };
    expect(confirmed('create_refund', args, body)).toEqual(['VERIFIED']);
    expect(confirmed('create_refund', { ...args, amount: 101 }, body)).toEqual(['MISMATCH', 'amount']);
  });

  it('an invoice item is confirmed, also where its parent names the subscription', () => {
    const { customer, description } = fixture('invoiceitem') as { customer: string; description: string };
    const args = { customer, amount: 1_000, currency: 'usd', description };
    expect(confirmed('create_invoice_item', args, written('invoiceitem'))).toEqual(['VERIFIED']);
    const parent = {
      type: 'subscription_details',
      subscription_details: { subscription: 'sub_1', subscription_item: 'si_1' },
    };
    const ofSubscription = { ...args, subscription: 'sub_1' };
    expect(confirmed('create_invoice_item', ofSubscription, written('invoiceitem', { parent }))).toEqual(['VERIFIED']);
    const older = written('invoiceitem', { subscription: 'sub_1' });
    expect(confirmed('create_invoice_item', ofSubscription, older)).toEqual(['VERIFIED']);
  });

  it('a customer and a subscription are confirmed', () => {
    const customer = written('customer', { metadata: { service_action_id: ACTION, tier: 'gold' } });
    const args = { customer: customer['id'] as string, metadata: { tier: 'gold', old: '' } };
    expect(confirmed('update_customer_metadata', args, customer)).toEqual(['VERIFIED']);
    const subscription = written('subscription', { cancel_at_period_end: true });
    expect(confirmed('cancel_subscription', { subscription: subscription['id'] as string }, subscription)).toEqual([
      'VERIFIED',
    ]);
  });
});
