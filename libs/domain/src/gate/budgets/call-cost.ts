import { CURRENCY_PATTERN, type JsonObject, type JsonValue } from '#libs/crypto';
import type { Money } from '../../kernel/index.js';

/** What a call spends, according to its request facts. */
export type CallCost = Money;

/**
 * The cost in the facts, or null if they hold no valid cost.
 * @param request the request facts, of a policy input or an approval context
 */
export const costIn = (request: object): CallCost | null => {
  const cost = memberOf(request, 'cost');
  const [amount, currency] = [memberOf(cost, 'amount'), memberOf(cost, 'currency')];
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount) || amount < 0) return null;
  return typeof currency === 'string' && CURRENCY_PATTERN.test(currency) ? { amount, currency } : null;
};

/** What the payments processor says about the call. Null if the connector does not ask one. */
export const paymentsIn = (request: object): JsonObject | null => {
  const payments = memberOf(request, 'payments');
  return isObject(payments) ? payments : null;
};

const memberOf = (value: unknown, name: string): JsonValue | undefined =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An amount is unusual from this many times the median of earlier amounts on. */
const UNUSUAL_FACTOR = 5;

/** The median of the earlier amounts if `amount` is at least {@link UNUSUAL_FACTOR} times as large; else null. */
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
