import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { type Quirk, WIRE_KEY, type WireRequest } from '../../../../../test/support/payments-wire.js';
import { ACTION, GivenPayments } from './testing/given-payments.js';

let payments: GivenPayments;
let charge: string;
beforeEach(async () => {
  payments = await GivenPayments.start();
  charge = payments.wire.charge();
});
afterEach(() => payments.close());

const refundOf = (more: JsonObject = {}): JsonObject => ({ charge, amount: 500, ...more });
const refund = (more: JsonObject = {}, changes = {}) => payments.send('create_refund', refundOf(more), changes);
const writes = (): readonly WireRequest[] => payments.wire.requests.filter(({ method }) => method !== 'GET');
const onWrites =
  (quirk: Quirk): Quirk =>
  (request, wire) =>
    request.method === 'GET' ? null : quirk(request, wire);

describe('a refund', () => {
  it('is sent once, under the id of its action, and costs what was refunded', async () => {
    expect(await refund({ currency: 'eur' })).toMatchObject({
      ...{ status: 'succeeded', errorCode: null, hasSent: true },
      cost: { amount: 500, currency: 'eur' },
    });
    expect(payments.wire.refunded(charge)).toBe(500);
    expect(writes().map(({ headers }) => headers['idempotency-key'])).toEqual([ACTION]);
    expect(payments.wire.refunds[0]).toMatchObject({ metadata: { service_action_id: ACTION } });
  });

  it('may name a payment intent', async () => {
    const payment_intent = payments.wire.intent(charge);
    expect(await payments.send('create_refund', { payment_intent, amount: 7 })).toMatchObject({ status: 'succeeded' });
    expect(payments.wire.refunded(charge)).toBe(7);
  });

  it('reads its charge first, and not again within half a minute', async () => {
    await payments.facts('create_refund', refundOf());
    await refund();
    expect(payments.wire.requests.map(({ method }) => method)).toEqual(['GET', 'POST']);
    await refund();
    expect(payments.wire.requests.map(({ method }) => method)).toEqual(['GET', 'POST', 'GET', 'POST']);
  });

  it.each([
    ['in another currency than was charged', { currency: 'jpy' }, 'validation_failed'],
    ['over the limit of the currency that was charged', { amount: 10_001 }, 'validation_failed'],
    ['of no charge that there is', { charge: 'ch_none' }, 'upstream_not_found'],
  ])('%s is refused before anything is written', async (_, more, code) => {
    expect(await refund(more)).toMatchObject({ status: 'failed', errorCode: code });
    expect(writes()).toEqual([]);
  });

  it('is not sent where its charge cannot be read, or does not say that it is none of real money', async () => {
    payments.wire.quirk = () => 'drop';
    expect(await refund()).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable', hasSent: false });
    payments.wire.quirk = () => null;
    payments.wire.charge({ id: charge, livemode: undefined });
    const unsaid = payments.wire.charge({ livemode: undefined });
    expect(await refund({ charge: unsaid })).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable' });
    expect(writes()).toEqual([]);
  });

  it('asks before each of its two requests whether it may still be sent', async () => {
    const asked: boolean[] = [];
    const mayStillSend = (hasSent: boolean) => {
      asked.push(hasSent);
      return Promise.resolve(asked.length === 2 ? ('agent_stopped' as const) : null);
    };
    expect(await refund({}, { mayStillSend })).toMatchObject({ status: 'failed', errorCode: 'agent_stopped' });
    // The read prepares the call, and may go although the connector has changed.
    expect([asked, writes()]).toEqual([[true, false], []]);
  });
});

describe('a write that has no good answer', () => {
  it.each<[string, Quirk, string, string, boolean]>([
    ['a fault of the processor', () => ({ status: 500, body: {} }), 'unknown', 'upstream_error', true],
    ['a lost answer', () => 'answer_lost', 'unknown', 'upstream_error', false],
    [
      'a key in use',
      () => ({ status: 409, body: { error: { code: 'idempotency_key_in_use' } } }),
      'unknown',
      'upstream_error',
      true,
    ],
    [
      'an approval of the processor',
      () => ({ status: 402, body: { error: { code: 'approval_required' } } }),
      'unknown',
      'upstream_approval_pending',
      false,
    ],
    ['a page', () => ({ status: 200, body: '<html>' }), 'unknown', 'upstream_error', false],
    ['too many requests', () => ({ status: 429, body: {} }), 'failed', 'upstream_rate_limited', false],
    [
      'a hint',
      () => ({ status: 429, body: {}, headers: { 'Stripe-Should-Retry': 'true' } }),
      'failed',
      'upstream_rate_limited',
      true,
    ],
  ])('%s', async (_, quirk, status, errorCode, isSentAgain) => {
    payments.wire.quirk = onWrites(quirk);
    const outcome = await refund();
    expect(outcome).toMatchObject({ status, errorCode });
    expect(outcome.retryAfterMs !== null).toBe(isSentAgain);
    // The second attempt is the last.
    expect((await refund({}, { attempt: 2 })).retryAfterMs).toBeNull();
  });

  it.each([
    [409, 'unknown'],
    [402, 'unknown'],
    [400, 'unknown'],
    [403, 'unknown'],
    [404, 'failed'],
    [401, 'failed'],
    [429, 'failed'],
  ])(
    'a refusal %d whose words are cut off is %s: only they would say whether it may still run',
    async (code, status) => {
      payments.wire.quirk = onWrites(() => ({ status: code, body: { error: { message: 'No.' } }, isCutOff: true }));
      expect(await refund()).toMatchObject({ status, hasSent: true });
    },
  );

  it('is repeated with the same bytes', async () => {
    payments.wire.quirk = onWrites(() => ({ status: 503, body: {} }));
    await refund({ reason: 'duplicate' });
    await refund({ reason: 'duplicate' }, { attempt: 2 });
    const [first, second] = writes().map(({ path, body, headers }) => [path, body, headers['idempotency-key']]);
    expect(second).toEqual(first);
  });
});

describe('real money', () => {
  it.each([
    ['in the answer to a write', onWrites(() => ({ status: 200, body: { id: 're_1', charge: { livemode: true } } }))],
    ['in the answer to the read before it', () => ({ status: 200, body: { object: 'charge', livemode: true } })],
    ['behind a mark of the byte order', onWrites(() => ({ status: 200, body: '\ufeff{"livemode": true}' }))],
  ] as const)('%s trips the breaker, and nobody knows what became of the call', async (_, quirk) => {
    payments.wire.quirk = quirk;
    const outcome = await refund();
    expect(outcome).toMatchObject({ status: 'unknown', errorCode: 'payments_livemode_detected', retryAfterMs: null });
    expect(outcome.breaker).toEqual({
      reason: 'livemode_detected',
      upstreamRequestId: expect.stringMatching(/^req_/) as string,
    });
  });

  it.each([`sk_live_${'a'.repeat(24)}`, 'not a key'])('%s in the vault sends nothing', async (key) => {
    await payments.storeKey(key);
    const outcome = await refund();
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'payments_live_key_refused', hasSent: false });
    expect(outcome.breaker).toEqual({ reason: 'live_key_stored', upstreamRequestId: null });
    expect(payments.wire.requests).toEqual([]);
  });
});

describe('facts', () => {
  it('say what was charged and refunded', async () => {
    await refund({ amount: 300 });
    expect((await payments.facts('create_refund', refundOf())).facts).toMatchObject({
      cost: { amount: 500, currency: 'eur' },
      payments: {
        ...{ enriched: true, charge, currency: 'eur', charge_amount: 10_000, amount_refunded: 300, refundable: 9_700 },
        ...{ disputed: false, amount_display: '€97.00', customer: 'cus_1' },
      },
    });
  });

  it('of a subscription say what it costs and until when', async () => {
    const subscription = payments.wire.subscription();
    expect((await payments.facts('cancel_subscription', { subscription })).facts).toMatchObject({
      payments: {
        ...{ enriched: true, subscription, status: 'active', amount_per_period: 4_000, interval: 'month' },
        current_period_end: '2027-01-15T08:00:00.000Z',
      },
    });
  });

  it('say that nothing could be read', async () => {
    payments.wire.quirk = () => 'drop';
    expect((await payments.facts('create_refund', refundOf({ currency: 'eur' }))).facts).toMatchObject({
      ...{ cost: { amount: 500, currency: 'eur' }, payments: { enriched: false, charge, refundable: null } },
    });
  });

  it('are read once for all who ask at once', async () => {
    await Promise.all(Array.from({ length: 20 }, () => payments.facts('create_refund', refundOf())));
    expect(payments.wire.requests).toHaveLength(1);
  });
});

describe('a write that is read back', () => {
  const confirmed = async (toolName: string, args: JsonObject, result: JsonObject | null) => {
    const { verdict, reasons, evidence } = await payments.observe(toolName, args, result);
    expect(evidence ?? '').not.toContain(WIRE_KEY);
    return [verdict, ...reasons];
  };

  it.each([
    ['create_refund', () => refundOf()],
    ['create_invoice_item', () => ({ customer: 'cus_1', amount: 900, currency: 'eur', description: 'One hour' })],
    ['update_customer_metadata', () => ({ customer: payments.wire.customer(), metadata: { tier: 'gold', 'a b': '' } })],
    ['cancel_subscription', () => ({ subscription: payments.wire.subscription() })],
    ['cancel_subscription', () => ({ subscription: payments.wire.subscription(), at_period_end: false })],
  ] as const)('is VERIFIED: %s', async (toolName, argsOf) => {
    const args = argsOf();
    const { status, result } = await payments.send(toolName, args);
    expect(status).toBe('succeeded');
    expect(await confirmed(toolName, args, result as JsonObject)).toEqual(['VERIFIED']);
  });

  it('is found although its answer was lost', async () => {
    payments.wire.quirk = onWrites(() => 'answer_lost');
    expect(await refund()).toMatchObject({ status: 'unknown' });
    expect(await confirmed('create_refund', refundOf(), null)).toEqual(['VERIFIED']);
  });

  it('is not there where nothing was written', async () => {
    payments.wire.quirk = onWrites(() => 'drop');
    await refund();
    expect(await confirmed('create_refund', refundOf(), null)).toEqual(['UNVERIFIABLE', 'not_found']);
  });

  it('is a MISMATCH where the processor keeps another currency than it answered', async () => {
    const { result } = await refund();
    Object.assign(payments.wire.refunds[0] ?? {}, { currency: 'usd' });
    expect(await confirmed('create_refund', refundOf(), result as JsonObject)).toEqual(['MISMATCH', 'currency']);
  });

  it('is nobody’s any more where another action wrote since', async () => {
    const subscription = payments.wire.subscription();
    const args = { subscription, at_period_end: false };
    const { result } = await payments.send('cancel_subscription', args);
    Object.assign(payments.wire.subscriptions.get(subscription) ?? {}, {
      cancellation_details: { comment: 'service_action_id act_other' },
    });
    expect(await confirmed('cancel_subscription', args, result as JsonObject)).toEqual([
      'UNVERIFIABLE',
      'another_action',
    ]);
  });

  it('is a MISMATCH where the processor refunded something else', async () => {
    const { result } = await refund();
    Object.assign(payments.wire.refunds[0] ?? {}, { amount: 5_000 });
    expect(await confirmed('create_refund', refundOf(), result as JsonObject)).toEqual(['MISMATCH', 'amount']);
  });
});

it.each([
  [
    'in JSON',
    { object: 'payment_intent', charges: [{ client_secret: 'pi_1_secret_abc' }], client_secret: 'pi_1_secret_abc' },
  ],
  ['in JSON that is kept as text', '{"client_secret": "pi_1_secret_abc", "client_secret": "pi_1_secret_abc"}'],
])('what lets a browser pay is in nothing that is kept: %s', async (_, body) => {
  payments.wire.quirk = () => ({ status: 200, body, headers: { 'Content-Type': 'application/json' } });
  const outcome = await payments.send('get_payment_intent', { payment_intent: 'pi_1' });
  expect(outcome).toMatchObject({ status: 'succeeded' });
  expect(JSON.stringify(outcome)).not.toContain('secret_abc');
});

it('an invoice item holds one line that people can read', async () => {
  const bill = { customer: 'cus_1', amount: 900, currency: 'eur' };
  for (const description of ['', ' ', 'a\u202eb', 'a\0', 'a\nb', '\u200b'])
    expect(await payments.send('create_invoice_item', { ...bill, description })).toMatchObject({
      errorCode: 'validation_failed',
    });
  expect(await payments.send('create_invoice_item', { ...bill, description: 'Für 👩‍💻' })).toMatchObject({
    status: 'succeeded',
  });
});

it('the key is in nothing that is kept', async () => {
  payments.wire.quirk = onWrites(({ headers }) => ({
    status: 400,
    body: { error: { message: headers.authorization } },
  }));
  expect(JSON.stringify(await refund())).not.toContain(WIRE_KEY);
});
