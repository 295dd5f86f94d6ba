import { textOfUtf8, utf8 } from './strict-text.js';

/**
 * A policy is octets, and its names are opaque (tlog-policy, Character set). A word that is valid UTF-8 is given as its
 * text. In any other, each octet above 0x7F stands as a lone surrogate, U+DC80 to U+DCFF: no text of UTF-8 has one, so two
 * words are the same text only when they are the same octets.
 */
const ESCAPE = 0xdc00;
const FIRST_NON_ASCII = 0x80;

/** Tab, newline, 0x20 to 0x7E and 0x80 to 0xFF. */
export const isPolicyOctet = (octet: number): boolean =>
  octet === 0x09 || octet === 0x0a || (octet >= 0x20 && octet !== 0x7f);

export const wordOfOctets = (octets: Uint8Array): string =>
  textOfUtf8(octets) ??
  Array.from(octets, (octet) => String.fromCharCode(octet < FIRST_NON_ASCII ? octet : ESCAPE + octet)).join('');

/** The octets of a word as `wordOfOctets` gives it; null for a lone surrogate that stands for no octet. */
export const octetsOfWord = (word: string): Uint8Array | null => {
  if (word.isWellFormed()) return utf8(word);
  const octets = Array.from({ length: word.length }, (_, index) => octetOf(word.charCodeAt(index)));
  return octets.includes(NO_OCTET) ? null : Uint8Array.from(octets);
};

const NO_OCTET = -1;

const octetOf = (code: number): number => {
  if (code < FIRST_NON_ASCII) return code;
  return code >= ESCAPE + FIRST_NON_ASCII && code <= ESCAPE + 0xff ? code - ESCAPE : NO_OCTET;
};
