import type { JsonObject, JsonValue } from '#libs/crypto';

/** What a call spends, as the facts of its request say it. */
export interface CallCost {
  /** In the smallest unit of the currency. */
  readonly amount: number;
  /** Three lowercase letters. */
  readonly currency: string;
}

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

/** ISO 4217, where it is not 2. CLDR says otherwise of some, and a factor of 100 would be approved. */
const DECIMALS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    0: 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf',
    3: 'bhd iqd jod kwd lyd omr tnd',
    4: 'clf uyw',
  }).flatMap(([decimals, currencies]) => currencies.split(' ').map((currency) => [currency, Number(decimals)])),
);

const KNOWN: ReadonlySet<string> = new Set(
  Intl.supportedValuesOf('currency').map((currency) => currency.toLowerCase()),
);

/** For people: `€890.00`. Of a currency whose smallest unit nobody knows the plain number, and that it is of such units. */
export const displayOf = ({ amount, currency }: CallCost): string => {
  const code = currency.toUpperCase();
  const decimals = DECIMALS.get(currency) ?? (KNOWN.has(currency) ? 2 : null);
  if (decimals === null) return `${amount} minor units of ${code}`;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code, ...digits });
  return format.format(decimalText(amount, decimals) as `${number}`);
};

/** As text, so that no amount is rounded. */
const decimalText = (amount: number, decimals: number): string => {
  const text = String(amount).padStart(decimals + 1, '0');
  return decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
};

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
