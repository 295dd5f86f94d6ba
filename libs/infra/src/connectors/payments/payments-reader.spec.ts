import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import type { FactsQuestion } from '#libs/domain/connectors';
import { idOf } from '#libs/domain/kernel';
import type { Quirk } from '../../../../../test/support/payments-wire.js';
import { GivenPayments } from './testing/given-payments.js';

let payments: GivenPayments;
let charge: string;
beforeEach(async () => {
  payments = await GivenPayments.start();
  charge = payments.wire.charge();
});
afterEach(() => payments.close());

const reads = (): number => payments.wire.requests.filter(({ method }) => method === 'GET').length;
const refundOf = (more: JsonObject = {}): JsonObject => ({ charge, amount: 500, ...more });
const factsOf = async (args: JsonObject, changes: Partial<FactsQuestion> = {}) => {
  const { facts, isRemembered } = await payments.facts('create_refund', args, changes);
  return { ...facts.payments, isRemembered };
};

interface Held {
  readonly quirk: Quirk;
  readonly arrived: Promise<void>;
  readonly letGo: () => void;
}

/** The processor answers as things stand when it is asked, and the answer is on its way until it is let go. */
const held = (): Held => {
  let [say, letGo] = [(): void => undefined, (): void => undefined];
  const arrived = new Promise<void>((resolve) => (say = resolve));
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  const quirk: Quirk = async (request, wire) => {
    const answer = wire.answerOf(request);
    say();
    await gone;
    return answer;
  };
  return { quirk, arrived, letGo: () => letGo() };
};

describe('what was read for one decision', () => {
  it('will do for another within half a minute, which is told so, and not where it is asked for anew', async () => {
    expect(await factsOf(refundOf())).toMatchObject({ enriched: true, isRemembered: false });
    expect(await factsOf(refundOf())).toMatchObject({ enriched: true, isRemembered: true });
    expect(reads()).toBe(1);
    expect(await factsOf(refundOf(), { mayBeRemembered: false })).toMatchObject({ isRemembered: false });
    expect(reads()).toBe(2);
  });

  it('is forgotten by a refund, under the name of the charge and under that of its payment intent', async () => {
    const payment_intent = payments.wire.intent(charge);
    const byIntent = { payment_intent, amount: 500 };
    await factsOf(byIntent);
    await payments.send('create_refund', refundOf());
    expect(await factsOf(byIntent)).toMatchObject({ amount_refunded: 500, isRemembered: false });
    await factsOf(refundOf());
    await payments.send('create_refund', byIntent, { action: idOf('act', randomBytes(16)) });
    expect(await factsOf(refundOf())).toMatchObject({ amount_refunded: 1_000, isRemembered: false });
  });

  it('of a subscription is kept and forgotten as well', async () => {
    const subscription = payments.wire.subscription();
    const status = async () => (await payments.facts('cancel_subscription', { subscription })).facts.payments?.status;
    await Promise.all(Array.from({ length: 20 }, status));
    expect([await status(), reads()]).toEqual(['active', 1]);
    await payments.send('cancel_subscription', { subscription, at_period_end: false });
    expect(await status()).toBe('canceled');
  });
});

describe('a read that is under way', () => {
  it('is not remembered where a refund ended meanwhile', async () => {
    await factsOf(refundOf());
    const slow = held();
    payments.wire.quirk = slow.quirk;
    const early = factsOf(refundOf(), { mayBeRemembered: false });
    await slow.arrived;
    payments.wire.quirk = () => null;
    await payments.send('create_refund', refundOf());
    slow.letGo();
    await early;
    expect(await factsOf(refundOf())).toMatchObject({ amount_refunded: 500, isRemembered: false });
  });

  it('for an agent that is stopped meanwhile leaves the others to read by themselves', async () => {
    const stopped = factsOf(refundOf(), { mayStillSend: () => Promise.resolve('agent_stopped') });
    const other = factsOf(refundOf());
    expect(await stopped).toMatchObject({ enriched: false });
    expect(await other).toMatchObject({ enriched: true });
  });

  it('for a decision is not waited for by a refund', async () => {
    const slow = held();
    payments.wire.quirk = slow.quirk;
    const early = factsOf(refundOf());
    await slow.arrived;
    payments.wire.quirk = () => null;
    expect(await payments.send('create_refund', refundOf())).toMatchObject({ status: 'succeeded' });
    slow.letGo();
    await early;
  });
});

describe('an answer about something else', () => {
  it('is no answer: another charge, another intent’s charge, another subscription', async () => {
    const other = payments.wire.charge({ currency: 'jpy' });
    const payment_intent = payments.wire.intent(charge);
    const subscription = payments.wire.subscription();
    payments.wire.quirk = ({ path }) => ({
      status: 200,
      body: path.includes('payment_intents')
        ? {
            object: 'payment_intent',
            id: payment_intent,
            latest_charge: { ...body(other), payment_intent: 'pi_other' },
          }
        : path.includes('charges')
          ? body(other)
          : { ...payments.wire.subscriptions.get(subscription), id: 'sub_other' },
    });
    const body = (id: string): object => payments.wire.charges.get(id) ?? {};
    expect(await factsOf(refundOf())).toMatchObject({ enriched: false, currency: null });
    expect(await factsOf({ payment_intent, amount: 1 })).toMatchObject({ enriched: false });
    const { facts } = await payments.facts('cancel_subscription', { subscription });
    expect(facts.payments).toMatchObject({ enriched: false });
    expect(await payments.send('create_refund', refundOf())).toMatchObject({ errorCode: 'connector_unavailable' });
  });

  it('may hold no hidden or endless word', async () => {
    const odd = payments.wire.charge({ customer: 'c'.repeat(1_000) });
    expect(await factsOf({ charge: odd, amount: 1 })).toMatchObject({ enriched: true, customer: null });
    const subscription = payments.wire.subscription({ status: 'act\u202eive\0' });
    expect((await payments.facts('cancel_subscription', { subscription })).facts.payments?.status).toBeNull();
  });
});
