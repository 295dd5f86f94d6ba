/**
 * The functions of conditions that look through a whole text, over its UTF-16 units and in time linear in its length.
 * An array of the units, and not the text itself: reading a text unit by unit is several times slower when the engine
 * holds it in pieces, which is what a hostile caller or a sum of texts makes it do.
 */
const unitsOf = (text: string): Uint16Array => {
  const units = new Uint16Array(text.length);
  Buffer.from(units.buffer).write(text, 'utf16le');
  return units;
};

const textOf = (units: Uint16Array): string => Buffer.from(units.buffer).toString('utf16le');

/** Texts and needles so small that the engine's own search is faster, and short even at its worst: about 20 µs. */
const NATIVE_PAIRS_MAX = 20_000;

/**
 * Whether `text` holds `needle`, unit by unit like `String.includes`. The engine's search takes the product of the two
 * lengths on texts made for it, and no clock can end it there, because it is one native call.
 */
export const holds = (text: string, needle: string): boolean => {
  if (needle.length > text.length) return false;
  if (needle.length <= 1 || needle.length * text.length <= NATIVE_PAIRS_MAX) return text.includes(needle);
  return find(unitsOf(text), unitsOf(needle));
};

/** Knuth, Morris and Pratt (1977): after a mismatch the text is not gone back in. */
const find = (text: Uint16Array, needle: Uint16Array): boolean => {
  const borders = bordersOf(needle);
  let at = 0;
  let matched = 0;
  while (at < text.length) {
    if (text[at] === needle[matched]) {
      at += 1;
      matched += 1;
      if (matched === needle.length) return true;
    } else if (matched === 0) at += 1;
    else matched = borders[matched - 1] ?? 0;
  }
  return false;
};

/** For every beginning of the needle: how much of its end is also the needle's beginning. */
const bordersOf = (needle: Uint16Array): Int32Array => {
  const borders = new Int32Array(needle.length);
  let length = 0;
  for (let at = 1; at < needle.length; at += 1) {
    while (length > 0 && needle[at] !== needle[length]) length = borders[length - 1] ?? 0;
    if (needle[at] === needle[length]) length += 1;
    borders[at] = length;
  }
  return borders;
};

const SURROGATE = /[\uD800-\uDFFF]/;

/** Characters are code points: what follows the first half of a pair is not counted again. */
export const countCharacters = (text: string): bigint => {
  if (!SURROGATE.test(text)) return BigInt(text.length);
  let count = text.length;
  for (const unit of unitsOf(text)) {
    if (unit >= 0xdc00 && unit <= 0xdfff) count -= 1;
  }
  return BigInt(count);
};

const BEYOND_ASCII = /[^\0-\x7F]/;
const CASE_BIT = 0x20;

const withCaseFlipped = (text: string, first: number, last: number): string => {
  const units = unitsOf(text);
  for (let at = 0; at < units.length; at += 1) {
    const unit = units[at] ?? 0;
    if (unit >= first && unit <= last) units[at] = unit ^ CASE_BIT;
  }
  return textOf(units);
};

/** A to Z become small; letters beyond ASCII stay as they are. */
export const lowerAscii = (text: string): string =>
  BEYOND_ASCII.test(text) ? withCaseFlipped(text, 0x41, 0x5a) : text.toLowerCase();

/** a to z become capitals; letters beyond ASCII stay as they are. */
export const upperAscii = (text: string): string =>
  BEYOND_ASCII.test(text) ? withCaseFlipped(text, 0x61, 0x7a) : text.toUpperCase();
