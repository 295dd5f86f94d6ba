import type { JsonObject, JsonValue } from '#libs/crypto';

import { displayOf } from '../../kernel/index.js';
import { isObject } from '../config-reader.js';
import type { CallCost, PaymentsFacts, RequestFacts } from '../request-facts.js';

const UNKNOWN: PaymentsFacts = {
  enriched: false,
  charge: null,
  payment_intent: null,
  customer: null,
  currency: null,
  charge_amount: null,
  amount_refunded: null,
  refundable: null,
  disputed: null,
  charge_age_days: null,
  amount_display: null,
  subscription: null,
  status: null,
  current_period_end: null,
  amount_per_period: null,
  interval: null,
};

/** Tools whose calls are judged by what the processor says. */
const READING_TOOLS = ['create_refund', 'cancel_subscription'] as const;
export const readsFacts = (toolName: string): boolean => READING_TOOLS.some((name) => name === toolName);

/** What the arguments alone say. */
export const factsOfArguments = (toolName: string, args: JsonObject): RequestFacts => {
  const cost = costOfArguments(toolName, args);
  if (!readsFacts(toolName)) return cost === null ? {} : { cost };
  const payments = { ...UNKNOWN, ...named(args) };
  return cost === null ? { payments } : { cost, payments };
};

const named = (args: JsonObject): Pick<PaymentsFacts, 'charge' | 'payment_intent' | 'subscription'> => ({
  charge: textIn(args, 'charge'),
  payment_intent: textIn(args, 'payment_intent'),
  subscription: textIn(args, 'subscription'),
});

/** Only a refund gives money away: an invoice item asks for some. */
const costOfArguments = (toolName: string, { amount, currency }: JsonObject): CallCost | null =>
  toolName === 'create_refund' && typeof amount === 'number' && typeof currency === 'string'
    ? { amount, currency }
    : null;

const DAY_MS = 86_400_000;

/** A charge as the processor answered it; null where it is none. */
export interface SeenCharge {
  readonly id: string;
  readonly currency: string;
  readonly amount: number;
  readonly refunded: number;
  readonly isSandbox: boolean;
  readonly body: JsonObject;
}

/** The charge that a call names, itself or by its payment intent; null where the answer is none, or another one. */
export const seenCharge = (body: JsonValue | undefined, args: JsonObject): SeenCharge | null => {
  if (!isObject(body) || body['object'] !== 'charge' || !isNamedBy(body, args)) return null;
  const { id, currency, amount, amount_refunded: refunded, livemode } = body;
  if (typeof id !== 'string' || typeof currency !== 'string') return null;
  if (!isWhole(amount) || !isWhole(refunded)) return null;
  return { id, currency: currency.toLowerCase(), amount, refunded, isSandbox: livemode === false, body };
};

const isNamedBy = (body: JsonObject, { charge, payment_intent: intent }: JsonObject): boolean => {
  if (charge !== undefined) return body['id'] === charge;
  const named = idIn(body['payment_intent']);
  return named === null || named === intent;
};

/** The subscription that a call names; null where the answer is none, or another one. */
export const seenSubscription = (body: JsonValue | undefined, args: JsonObject): JsonObject | null =>
  isObject(body) && body['object'] === 'subscription' && body['id'] === args['subscription'] ? body : null;

export const factsOfCharge = (
  args: JsonObject,
  charge: SeenCharge,
  { nowMs, recorded }: { readonly nowMs: number; readonly recorded: RequestFacts | null },
): RequestFacts => {
  const { body, currency, amount, refunded } = charge;
  const refundable = wasCollected(body) ? amount - refunded : null;
  const payments: PaymentsFacts = {
    ...UNKNOWN,
    enriched: true,
    charge: charge.id,
    payment_intent: textIn(args, 'payment_intent') ?? idIn(body['payment_intent']),
    customer: idIn(body['customer']),
    currency,
    charge_amount: amount,
    amount_refunded: refunded,
    refundable,
    disputed: body['disputed'] === true,
    charge_age_days: recorded?.payments?.charge_age_days ?? ageIn(body['created'], nowMs),
    amount_display: refundable === null ? null : displayOf({ amount: refundable, currency }),
  };
  const asked = args['amount'];
  return typeof asked === 'number' ? { cost: { amount: asked, currency }, payments } : { payments };
};

/** Of a charge that failed or still waits nothing can be given back. What is left out counts as done. */
const wasCollected = ({ status }: JsonObject): boolean => status === undefined || status === 'succeeded';

const ageIn = (created: JsonValue | undefined, nowMs: number): number | null =>
  isWhole(created) ? Math.max(0, Math.floor((nowMs - created * 1_000) / DAY_MS)) : null;

export const factsOfSubscription = (body: JsonObject): RequestFacts => {
  // Of a list that goes on, nothing can be said of the whole.
  const items = isCut(body) ? [] : itemsIn(body);
  const end = earliest([body['current_period_end'], ...items.map((item) => item['current_period_end'])]);
  const prices = items.map((item) => ({ price: item['price'], quantity: item['quantity'] ?? 1 }));
  const currency = textIn(body, 'currency');
  const perPeriod = sumOf(prices);
  return {
    payments: {
      ...UNKNOWN,
      enriched: true,
      subscription: textIn(body, 'id'),
      customer: idIn(body['customer']),
      currency,
      status: textIn(body, 'status'),
      current_period_end: end === null ? null : new Date(end * 1_000).toISOString(),
      amount_per_period: perPeriod,
      amount_display: perPeriod === null || currency === null ? null : displayOf({ amount: perPeriod, currency }),
      interval: intervalOf(prices),
    },
  };
};

const isCut = ({ items }: JsonObject): boolean => isObject(items) && items['has_more'] === true;

const itemsIn = ({ items }: JsonObject): readonly JsonObject[] => {
  const data = isObject(items) ? items['data'] : undefined;
  return Array.isArray(data) ? data.filter(isObject) : [];
};

/** The last that a date can be. */
const LAST_SECOND = 8_640_000_000_000;

/** Since version 2025-03-31 each item has a period of its own. */
const earliest = (times: readonly (JsonValue | undefined)[]): number | null => {
  const known = times.filter(isWhole).filter((time) => time <= LAST_SECOND);
  return known.length === 0 ? null : Math.min(...known);
};

interface Priced {
  readonly price: JsonValue | undefined;
  readonly quantity: JsonValue;
}

const sumOf = (prices: readonly Priced[]): number | null => {
  let sum = 0;
  for (const { price, quantity } of prices) {
    const unit = isObject(price) && isByTheUnit(price) ? price['unit_amount'] : undefined;
    if (!isWhole(unit) || !isWhole(quantity)) return null;
    sum += unit * quantity;
  }
  return prices.length > 0 && Number.isSafeInteger(sum) ? sum : null;
};

/** What is metered costs what was used, and what is sold in packages another number of units. */
const isByTheUnit = ({ recurring, transform_quantity: packages }: JsonObject): boolean =>
  (packages ?? null) === null && !(isObject(recurring) && recurring['usage_type'] === 'metered');

/** Such as `month` or `3 months`; null where the items differ. */
const intervalOf = (prices: readonly Priced[]): string | null => {
  const all = new Set(prices.map(({ price }) => (isObject(price) ? intervalIn(price['recurring']) : null)));
  const [only = null] = all;
  return all.size === 1 ? only : null;
};

const intervalIn = (recurring: JsonValue | undefined): string | null => {
  if (!isObject(recurring)) return null;
  const { interval, interval_count: count } = recurring;
  if (typeof interval !== 'string') return null;
  return isWhole(count) && count > 1 ? `${count} ${interval}s` : interval;
};

/** Words of the processor: short ones, in which nothing hides. */
const WORD = /^[\x20-\x7e]{1,255}$/;

const textIn = (object: JsonObject, name: string): string | null => {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' && WORD.test(value) ? value : null;
};

/** An id, or the object that was put in its place. */
const idIn = (value: JsonValue | undefined): string | null =>
  isObject(value) ? textIn(value, 'id') : textIn({ id: value ?? null }, 'id');

const isWhole = (value: JsonValue | undefined): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
