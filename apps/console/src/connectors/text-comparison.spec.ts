import { describe, expect, it } from 'vitest';
import { compareTexts, type Part } from './text-comparison.ts';

/** A part as `=text`, or as `-text` and `+text` with what differs exactly in brackets. */
const shown = (sign: string, parts: readonly Part[]): readonly string[] =>
  parts.map(
    ({ isSame, runs }) =>
      `${isSame ? '=' : sign}${runs.map(({ text, differs }) => (differs ? `[${text}]` : text)).join('')}`,
  );
const compared = (before: string, after: string) => {
  const { before: was, after: is } = compareTexts(before, after);
  return [shown('-', was), shown('+', is)];
};
const textOf = (parts: readonly Part[]): string =>
  parts.map(({ runs }) => runs.map(({ text }) => text).join('')).join('');

describe('two texts', () => {
  it('that are the same have one part', () => {
    expect(compared('a\nb', 'a\nb')).toEqual([['=a\nb'], ['=a\nb']]);
    expect(compared('', '')).toEqual([[], []]);
  });

  it('differ in lines, and in these in words', () => {
    expect(compared('one\nLooks things up.\nthree', 'one\nSends things away.\nthree')).toEqual([
      ['=one\n', '-[Looks] things [up].\n', '=three'],
      ['=one\n', '+[Sends] things [away].\n', '=three'],
    ]);
  });

  it('differ in lines that only one of them has', () => {
    expect(compared('a\nb\nc', 'a\nc')).toEqual([
      ['=a\n', '-b\n', '=c'],
      ['=a\n', '=c'],
    ]);
    expect(compared('', 'new')).toEqual([[], ['+new']]);
  });

  it('have no words marked where they have none in common', () =>
    expect(compared('a b', 'c d')).toEqual([['-a b'], ['+c d']]));

  it('differ in a character that nobody sees', () =>
    expect(compared('Reads a file', 'Reads a\u200b file')).toEqual([['-Reads a file'], ['+Reads a[\u200b] file']]));

  it.each([
    ['thousands of other lines', (line: number, side: string) => `${line % 2 === 0 ? 'same' : side} ${line}\n`, 5_000],
    ['long lines of single signs', (sign: number, side: string) => (sign % 2 === 0 ? '.' : side), 60_000],
    ['more changes than a person reads', (line: number, side: string) => `${line % 2 === 0 ? '' : side}${line}\n`, 600],
    ['many changes in words', (line: number, side: string) => `${line % 2 === 0 ? '' : `a ${side} b ${side} c`}\n`, 50],
  ])('with %s are whole, in parts that a page can show', (_title, piece, count) => {
    const [one, other] = ['-', '+'].map((side) =>
      Array.from({ length: count }, (_, number) => piece(number, side)).join(''),
    ) as [string, string];
    const { before, after } = compareTexts(one, other);
    expect([textOf(before), textOf(after)]).toEqual([one, other]);
    for (const parts of [before, after]) {
      expect(parts.length).toBeLessThanOrEqual(60);
      expect(parts.flatMap(({ runs }) => runs).length).toBeLessThanOrEqual(180);
    }
  });
});
