import { sha256 } from './digest.js';

/** The 26 characters behind a prefix (rule FORM-1): 0-7, then lowercase base 32 without i, l, o, u. */
export const ID_PATTERN = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** The ids with one of these prefixes, as a pattern: for forms that take one. Inner code asks `isId`. */
export const idPattern = (...prefixes: readonly string[]): RegExp =>
  new RegExp(`^(?:${prefixes.join('|')})_${ID_PATTERN.source.slice(1)}`);

const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const ID_BYTES = 16;
const DIGIT_BITS = 5;
const DIGIT_MASK = 31;

/** Writes 16 bytes as an id: the prefix, an underscore, and the 128 bits as a number in base 32, highest digit first. */
export const encodeId = (prefix: string, bytes: Uint8Array): string => {
  if (bytes.byteLength !== ID_BYTES) throw new RangeError(`an id is made of ${ID_BYTES} bytes`);
  let text = `${prefix}_`;
  // 26 digits hold 130 bits: the number begins with two zeros.
  let [pending, pendingBits] = [0, 2];
  for (const byte of bytes) {
    pending = (pending << 8) | byte;
    for (pendingBits += 8; pendingBits >= DIGIT_BITS;) {
      pendingBits -= DIGIT_BITS;
      text += ALPHABET.charAt((pending >> pendingBits) & DIGIT_MASK);
    }
  }
  return text;
};

/** Whether a text is an id with this prefix (given without its underscore). */
export const isId = (prefix: string, text: string): boolean =>
  text.startsWith(`${prefix}_`) && ID_PATTERN.test(text.slice(prefix.length + 1));

/**
 * The id of the deed that seals an event: `deed_` and the first 128 bits of
 * SHA-256(`service/deed-id/v1` LF organization LF source event id). Sealing the same event twice gives the same id.
 */
export const deriveDeedId = (org: string, sourceEventId: string): string =>
  encodeId('deed', sha256(`service/deed-id/v1\n${org}\n${sourceEventId}`).subarray(0, ID_BYTES));
