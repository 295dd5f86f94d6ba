import { describe, expect, it } from 'vitest';

import { countCharacters, holds, lowerAscii, upperAscii } from './text-units.js';

/** Every text of a small alphabet: what borders of a needle can look like. */
const texts = (length: number): string[] =>
  length === 0 ? [''] : texts(length - 1).flatMap((text) => ['a', 'b'].map((letter) => text + letter));

describe('contains: the answers of String.includes', () => {
  it('for every needle of two letters up to eight long, in a text too long for the native search', () => {
    const filler = 'aab'.repeat(7_000);
    const wrong: string[] = [];
    for (let length = 1; length <= 8; length += 1) {
      for (const needle of texts(length)) {
        for (const text of [filler, `${filler}${needle}`, `${needle}${filler}`, `${filler}${needle}${filler}`]) {
          if (holds(text, needle) !== text.includes(needle)) wrong.push(needle);
        }
      }
    }
    expect(wrong).toEqual([]);
  });
  it('for a needle that is empty, the text itself or longer than it', () => {
    const text = 'ab'.repeat(20_000);
    expect([holds(text, ''), holds(text, text), holds(text, `${text}a`), holds('', 'a')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
  it('by UTF-16 units, halves of pairs included', () => {
    const [smile, first, second] = ['\u{1F600}', String.fromCharCode(0xd83d), String.fromCharCode(0xde00)];
    const text = smile.repeat(20_000) + first;
    const needles = [smile + first, second + second, first + smile + smile];
    expect(needles.map((needle) => holds(text, needle))).toEqual([true, false, false]);
  });
});

describe('size of a text: its code points', () => {
  it.each([
    ['', 0n],
    ['abc', 3n],
    ['\u00e9\u4e00', 2n],
    ['a\u{1F600}b', 3n],
  ])('%j', (text, size) => expect(countCharacters(text)).toBe(size));
});

describe('lowerAscii and upperAscii change A to Z and a to z alone', () => {
  it.each([
    ['@AZ[`az{', '@az[`az{', '@AZ[`AZ{'],
    ['\u00c9AZaz\u00e9\u0130\u00df', '\u00c9azaz\u00e9\u0130\u00df', '\u00c9AZAZ\u00e9\u0130\u00df'],
    ['\u{1F600}Ab\u212a', '\u{1F600}ab\u212a', '\u{1F600}AB\u212a'],
  ])('%j', (text, lower, upper) => {
    expect(lowerAscii(text)).toBe(lower);
    expect(upperAscii(text)).toBe(upper);
  });
});
