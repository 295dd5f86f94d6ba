import { createHash } from 'node:crypto';
import type { LoggedValue } from '#libs/domain/connectors';

/** A longer value is kept as its beginning, its length and its digest. */
export const VALUE_BYTES_MAX = 64 * 1024;

/** Of all values of one transaction. Behind it only lengths and digests are kept. */
export const ROWS_BYTES_MAX = 4 * 1024 * 1024;

const REPLACEMENT = '\uFFFD';

/** Keeps the values of one transaction as the texts that the database sent, within its bounds. */
export class KeptValues {
  private bytesLeft = ROWS_BYTES_MAX;

  get bytes(): number {
    return ROWS_BYTES_MAX - this.bytesLeft;
  }

  keep(value: Buffer): LoggedValue {
    const most = Math.min(VALUE_BYTES_MAX, this.bytesLeft);
    const kept = value.byteLength <= most ? value : value.subarray(0, endOfCharacter(value, most));
    this.bytesLeft -= kept.byteLength;
    const text = kept.toString('utf8');
    return kept === value && isExact(text, value) ? { text } : { text, whole: wholeOf(value) };
  }
}

/** A database with the encoding SQL_ASCII may hold, and send, what is no UTF-8. */
const isExact = (text: string, value: Buffer): boolean =>
  !text.includes(REPLACEMENT) || Buffer.from(text).equals(value);

const wholeOf = (value: Buffer) => ({
  bytes: value.byteLength,
  sha256: createHash('sha256').update(value).digest('hex'),
});

/** The last place up to `most` that cuts no character of UTF-8 in two. */
const endOfCharacter = (value: Buffer, most: number): number => {
  let end = most;
  while (end > 0 && most - end < 3 && ((value[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end;
};
