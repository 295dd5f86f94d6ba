import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { unitsOf } from './escape-views.js';
import { NeedleSearch } from './needle-search.js';

/** The same by the definition: which units any needle covers, and where a covered part begins anew. */
const naiveSpans = (needles: readonly string[], text: string) => {
  const found = needles.flatMap((needle) =>
    Array.from({ length: text.length }, (_, start) => ({ start, end: start + needle.length })).filter(
      ({ start }) => needle !== '' && text.startsWith(needle, start),
    ),
  );
  const spans: { start: number; end: number }[] = [];
  for (const { start, end } of found.sort((one, other) => one.start - other.start)) {
    const last = spans.at(-1);
    if (last !== undefined && start < last.end) last.end = Math.max(last.end, end);
    else spans.push({ start, end });
  }
  return spans;
};

describe('needle search', () => {
  it.each(['ab', 'abc', 'a\ud83d\ude00'])('finds what the naive search finds, on the alphabet %j', (alphabet) => {
    const word = (minLength: number, maxLength: number) =>
      fc.array(fc.constantFrom(...alphabet.split('')), { minLength, maxLength }).map((units) => units.join(''));
    fc.assert(
      fc.property(fc.array(word(0, 9), { maxLength: 12 }), word(0, 80), (needles, text) => {
        const search = new NeedleSearch(needles);
        expect(search.spansIn(unitsOf(text))).toEqual(naiveSpans(needles, text));
        expect(search.isIn(text)).toBe(naiveSpans(needles, text).length > 0);
      }),
      { numRuns: 2_000 },
    );
  });
});
