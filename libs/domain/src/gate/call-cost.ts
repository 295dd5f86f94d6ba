import type { JsonObject, JsonValue } from '#libs/crypto';
import type { Money } from '../kernel/index.js';

/** What a call spends, as the facts of its request say it. */
export type CallCost = Money;

/** Null where nothing is known of it. @param request the facts of a policy input, or of what people are shown */
export const costIn = (request: object): CallCost | null => {
  const cost = memberOf(request, 'cost');
  const [amount, currency] = [memberOf(cost, 'amount'), memberOf(cost, 'currency')];
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return null;
  return typeof currency === 'string' && /^[a-z]{3}$/.test(currency) ? { amount, currency } : null;
};

/** What the payments processor says of the call. Null where the connector asks none. */
export const paymentsIn = (request: object): JsonObject | null => {
  const payments = memberOf(request, 'payments');
  return isObject(payments) ? payments : null;
};

const memberOf = (value: unknown, name: string): JsonValue | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** So many times the median of what was spent before is unusual. */
const UNUSUAL_FACTOR = 5;

/** The median of earlier amounts, where this one is at least {@link UNUSUAL_FACTOR} times as large; else null. */
export const medianExceededBy = (amount: number, earlier: readonly number[]): number | null => {
  if (earlier.length === 0 || amount === 0) return null;
  const median = medianOf(earlier);
  return amount >= UNUSUAL_FACTOR * median ? median : null;
};

const medianOf = (amounts: readonly number[]): number => {
  const sorted = amounts.toSorted((one, other) => one - other);
  const upper = sorted[sorted.length >> 1] as number;
  const lower = sorted[(sorted.length - 1) >> 1] as number;
  return Math.round((lower + upper) / 2);
};
