/** A place in a write-ahead log as PostgreSQL writes it: two numbers of 32 bits in hexadecimal digits. */
const LSN = /^([0-9A-F]{1,8})\/([0-9A-F]{1,8})$/i;
const HALF_BITS = 32n;
const HALF_MASK = 0xffff_ffffn;

/** The place as one number, by which places compare; null for a text that is none. */
export const parseLsn = (text: string): bigint | null => {
  const [, upper, lower] = LSN.exec(text) ?? [];
  return upper === undefined ? null : (BigInt(`0x${upper}`) << HALF_BITS) | BigInt(`0x${lower}`);
};

/** In PostgreSQL's own spelling, which has no leading zeros. */
export const formatLsn = (lsn: bigint): string =>
  `${(lsn >> HALF_BITS).toString(16)}/${(lsn & HALF_MASK).toString(16)}`.toUpperCase();

/** Negative where the first lies before the second, as `sort` wants it. @throws {RangeError} for a text that is no place */
export const compareLsn = (first: string, second: string): number => {
  const [one, two] = [parseLsn(first), parseLsn(second)];
  if (one === null || two === null) throw new RangeError('not a place in a write-ahead log');
  return one < two ? -1 : Number(one > two);
};
