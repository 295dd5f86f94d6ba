import type { JsonObject, JsonValue } from '#libs/crypto';

/** An amount of money. */
export interface Money {
  /** In the smallest unit of the currency. */
  readonly amount: number;
  /** ISO 4217, three lower-case letters. */
  readonly currency: string;
}

/** The currency of an argument that is an amount: a fixed currency, or the name of the argument that holds it. */
export type MoneyMark = { readonly currency: string } | { readonly currency_arg: string };

/** The arguments of a tool that are amounts of money in minor units, by the names of the arguments. */
export type MoneyMarks = Readonly<Record<string, MoneyMark>>;

/**
 * An argument that is marked as an amount, in the form that people read. The value that is sent does not change, and is
 * shown beside it.
 */
export interface ShownAmount {
  readonly argument: string;
  /** Lower case; null if the call does not say it. */
  readonly currency: string | null;
  /** Such as `€80.00`; null if the value cannot be shown as money. */
  readonly display: string | null;
  /** A sentence that says why the value is not shown as money; null if it is. */
  readonly hint: string | null;
}

/**
 * Active codes of ISO 4217 by the decimal digits of their minor unit. CLDR differs from ISO 4217 for some codes: with
 * its digits an approver would see a wrong amount, for instance by a factor of 100.
 */
const CODES_BY_DECIMALS: Readonly<Record<0 | 2 | 3 | 4, string>> = {
  0: 'bif clp djf gnf isk jpy kmf krw pyg rwf ugx uyi vnd vuv xaf xof xpf',
  2:
    'aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bmd bnd bob bov brl bsd btn bwp byn bzd cad cdf che chf ' +
    'chw cny cop cou crc cup cve czk dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gtq gyd hkd hnl htg huf ' +
    'idr ils inr irr jmd kes kgs khr kpw kyd kzt lak lbp lkr lrd lsl mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn ' +
    'mxv myr mzn nad ngn nio nok npr nzd pab pen pgk php pkr pln qar ron rsd rub sar sbd scr sdg sek sgd shp sle sos ' +
    'srd ssp stn svc syp szl thb tjs tmt top try ttd twd tzs uah usd usn uyu uzs ved ves wst xcd xcg yer zar zmw zwg',
  3: 'bhd iqd jod kwd lyd omr tnd',
  4: 'clf uyw',
};

const DECIMALS: ReadonlyMap<string, number> = new Map(
  Object.entries(CODES_BY_DECIMALS).flatMap(([decimals, codes]) =>
    codes.split(' ').map((code) => [code, Number(decimals)] as const),
  ),
);

/**
 * The amount for people to read, such as `€890.00`. If the minor unit of the currency is unknown, the plain number,
 * with a note that it counts minor units.
 */
export const displayOf = ({ amount, currency }: Money): string => {
  const code = currency.toUpperCase();
  const decimals = DECIMALS.get(currency);
  if (decimals === undefined) return `${amount} minor units of ${code}`;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  const format = new Intl.NumberFormat('en', { style: 'currency', currency: code, ...digits });
  return format.format(decimalText(amount, decimals) as `${number}`);
};

/** The amount with a decimal point, computed as text so that no amount is rounded. */
const decimalText = (amount: number, decimals: number): string => {
  const sign = amount < 0 ? '-' : '';
  const text = String(Math.abs(amount)).padStart(decimals + 1, '0');
  return decimals === 0 ? `${sign}${text}` : `${sign}${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
};

/**
 * The marked arguments that a call has, in the order of the marks. One that does not fit is not shown as money; its
 * `hint` says why.
 */
export const amountsIn = (args: JsonObject, marks: MoneyMarks | undefined): readonly ShownAmount[] =>
  Object.entries(marks ?? {})
    .filter(([argument]) => Object.hasOwn(args, argument))
    .map(([argument, mark]) => ({ argument, ...shownAs(args[argument] as JsonValue, currencyBy(mark, args)) }));

/** The currency code, or a hint that says why it is unknown. */
const currencyBy = (mark: MoneyMark, args: JsonObject): { readonly code: string } | { readonly hint: string } => {
  if ('currency' in mark) return { code: mark.currency };
  const { currency_arg: name } = mark;
  const given = Object.hasOwn(args, name) ? args[name] : undefined;
  if (given === undefined) return { hint: `The call does not say in which currency: it has no argument ${name}.` };
  // Some systems write codes in capitals and mean the same. Mixed case is taken for an error of the sender.
  if (typeof given === 'string' && /^(?:[a-z]{3}|[A-Z]{3})$/.test(given)) return { code: given.toLowerCase() };
  return { hint: `The call does not say in which currency: its argument ${name} is no code of three letters.` };
};

const shownAs = (amount: JsonValue, currency: ReturnType<typeof currencyBy>): Omit<ShownAmount, 'argument'> => {
  const code = 'code' in currency ? currency.code : null;
  if (typeof amount !== 'number' || !Number.isSafeInteger(amount)) {
    return {
      currency: code,
      display: null,
      hint: 'An amount of money is a whole number of minor units, and this is none.',
    };
  }
  if ('hint' in currency) return { currency: null, display: null, hint: currency.hint };
  return { currency: code, display: displayOf({ amount, currency: currency.code }), hint: null };
};
