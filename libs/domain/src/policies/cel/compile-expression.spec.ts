import { describe, expect, it } from 'vitest';

import { compileExpression } from './compile-expression.js';
import { FACTS } from './facts.js';

const codes = (text: string): readonly string[] => compileExpression(text, FACTS).problems.map(({ code }) => code);
const comparisons = (count: number): string =>
  `args.list.all(x, ${Array<string>(count).fill('x.a >= 0').join(' && ')})`;
const cost = (text: string): number => compileExpression(text, FACTS).expression?.cost ?? Number.POSITIVE_INFINITY;

describe('condition: its limits, and one more', () => {
  it.each([
    [
      '2,048 characters',
      `args.a == "${'😀'.repeat(2_036)}"`,
      'expression_too_long',
      `args.a == "${'😀'.repeat(2_037)}"`,
    ],
    [
      '32 brackets',
      `${'('.repeat(32)}args.a${')'.repeat(32)}`,
      'expression_too_complex',
      `${'('.repeat(33)}args.a${')'.repeat(33)}`,
    ],
    [
      '500 tokens',
      `args.a == 1${' + 1'.repeat(247)} // one`,
      'expression_too_complex',
      `args.a == 1${' + 1'.repeat(248)}`,
    ],
    ['100,000 steps', comparisons(10), 'cost_too_high', comparisons(11)],
    [
      '256 characters of a pattern',
      `tool.matches("${'a'.repeat(256)}")`,
      'invalid_pattern',
      `tool.matches("${'a'.repeat(257)}")`,
    ],
  ])('%s', (_, fitting, code, beyond) => {
    expect(codes(fitting)).toEqual([]);
    expect(codes(beyond)).toEqual([code]);
  });

  it('brackets and quotes inside texts and comments are no depth', () =>
    expect(codes(`args.a == "${'('.repeat(100)}" && args.b == '\\'((((' // ${'('.repeat(100)}`)).toEqual([]));
});

describe('condition: its estimated cost', () => {
  it('grows with each item of a list of the call', () =>
    expect(cost(comparisons(1))).toBeGreaterThan(1_000 * cost('args.a >= 0')));
  it('does not count more items than a literal list has', () =>
    expect(cost('[1, 2, 3].all(x, x < args.a)')).toBeLessThan(100));
  it('grows with the text that is looked through', () =>
    expect(cost('args.text.matches("a")')).toBeGreaterThan(10 * cost('args.text.startsWith("a")')));
  it('grows with the pattern', () =>
    expect(cost('args.text.matches("[a-z]{1,200}x")')).toBeGreaterThan(2 * cost('args.text.matches("[a-z]x")')));
  it('counts a text of the items once for all of them', () =>
    expect(cost('args.list.all(x, x.contains("a"))')).toBeLessThan(2 * cost('args.list.all(x, x == "a")')));
  it('multiplies conditions on every item of every item', () => {
    expect(cost('[1, 2].all(x, [1, 2].all(y, x < y + 1 || args.a))')).toBeLessThan(200);
    expect(codes('args.list.all(x, x.parts.all(y, y > 0))')).toEqual(['cost_too_high']);
  });
});
