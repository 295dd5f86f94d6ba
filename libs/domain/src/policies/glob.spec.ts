import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { coversGlob, matchesGlob } from './glob.js';

/** The definition, without any thought of speed. */
const matchesByDefinition = (pattern: string, text: string): boolean => {
  if (pattern === '') return text === '';
  if (pattern.startsWith('*')) {
    return Array.from({ length: text.length + 1 }, (_, at) => text.slice(at)).some((rest) =>
      matchesByDefinition(pattern.slice(1), rest),
    );
  }
  return pattern[0] === text[0] && matchesByDefinition(pattern.slice(1), text.slice(1));
};

// A small alphabet makes near misses likely.
const text = fc.string({ unit: fc.constantFrom('a', 'b', '.', '_', 'é', '😀'), maxLength: 10 });
const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '.', '*', '*', '😀'), maxLength: 8 });

describe('glob: a star is any run of characters, all else stands for itself', () => {
  it.each([
    ['crm.get_*', 'crm.get_customer', true],
    ['crm.get_*', 'crm.get_', true],
    ['crm.get_*', 'crm.set_customer', false],
    ['crm.*', 'crm.a.b', true],
    ['*.delete*', 'crm.delete_all', true],
    ['*', '', true],
    ['*', 'anything', true],
    ['a*a', 'a', false],
    ['crm.get', 'CRM.get', false],
    ['a.b', 'axb', false],
    ['a*b*c', 'aXbXbXc', true],
    ['', 'a', false],
  ])('%j on %j is %j', (glob, subject, expected) => expect(matchesGlob(glob, subject)).toBe(expected));

  it('agrees with the definition on every generated pair', () =>
    fc.assert(
      fc.property(pattern, text, (glob, subject) => {
        expect(matchesGlob(glob, subject)).toBe(matchesByDefinition(glob, subject));
      }),
      { numRuns: 5_000 },
    ));

  it.each([
    ['stars without end', '*a'.repeat(128), 'a'.repeat(100_000)],
    ['a long run after a star', `*${'a'.repeat(255)}`, 'a'.repeat(10_000)],
    ['runs between stars', '*aaab'.repeat(50), 'a'.repeat(100_000)],
  ])('takes at most text x pattern steps: %s', (_, pattern, subject) => {
    const budget = { left: 0 };
    expect(matchesGlob(`${pattern}b`, subject, budget)).toBe(false);
    expect(-budget.left).toBeLessThanOrEqual(subject.length * (pattern.length + 1));
  });
});

describe('glob: one covers another when it matches whatever the other matches', () => {
  it.each([
    ['crm.*', 'crm.get_*', true],
    ['crm.get_*', 'crm.*', false],
    ['*', 'crm.*', true],
    ['*.get*', 'crm.get_*', true],
    ['crm.a', 'crm.a', true],
    ['crm.a*', 'crm.a', true],
    ['crm.a', 'crm.a*', false],
    ['a*c', 'a*b*c', true],
  ])('%j over %j is %j', (wide, narrow, expected) => expect(coversGlob(wide, narrow)).toBe(expected));

  it('never claims cover for a text that only the covered one matches', () =>
    fc.assert(
      fc.property(pattern, pattern, text, (wide, narrow, subject) => {
        fc.pre(coversGlob(wide, narrow) && matchesByDefinition(narrow, subject));
        expect(matchesByDefinition(wide, subject)).toBe(true);
      }),
      { numRuns: 300, maxSkipsPerRun: 1_000 },
    ));

  it('claims no cover only where a text of the covered one shows why', () =>
    fc.assert(
      fc.property(pattern, pattern, (wide, narrow) => {
        fc.pre(!coversGlob(wide, narrow));
        // A letter that stands in no pattern is taken by a star alone.
        expect(matchesByDefinition(wide, narrow.replaceAll('*', 'z'))).toBe(false);
      }),
      { numRuns: 2_000 },
    ));
});
