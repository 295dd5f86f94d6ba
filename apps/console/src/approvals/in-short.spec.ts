import { describe, expect, it } from 'vitest';
import { inShort } from './in-short.ts';

describe('a call in short', () => {
  it('tells two calls of one tool apart', () =>
    expect(inShort({ id: 'o-48120', amount: 48_900 })).toBe('id o-48120, amount 48900'));

  it('has the first three arguments, and counts the others', () =>
    expect(inShort({ a: 1, b: [2], c: null, d: 4, e: 5 })).toBe('a 1, b [2], c null and 2 more'));

  it('cuts a long value between two characters', () =>
    expect(inShort({ note: '👍'.repeat(50) })).toBe(`note ${'👍'.repeat(39)}…`));

  it('has money formatted, beside the value that is sent', () => {
    const amounts = [
      { argument: 'amount', display: '€489.00' },
      { argument: 'fee', display: null },
    ];
    expect(inShort({ amount: 48_900, fee: 1.5 }, amounts)).toBe('amount €489.00 (48900), fee 1.5');
  });

  it('is empty without arguments', () => expect(inShort({})).toBe(''));
});
