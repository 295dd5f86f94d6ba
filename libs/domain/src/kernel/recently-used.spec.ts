import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentlyUsed } from './recently-used.js';

const LIGHT = { entries: 8, weight: 1_000_000 };
const names = (count: number, first = 0) => Array.from({ length: count }, (_, index) => `n${first + index}`);

describe('what was used last', () => {
  it('is kept, nine tenths of the capacity at least and all of it at most', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(30)), (uses) => {
        const kept = new RecentlyUsed<number>(LIGHT);
        for (const use of uses) if (kept.get(`n${use}`) === undefined) kept.set(`n${use}`, use, 1);
        const latest = [...new Set(uses.toReversed())];
        // `get` counts as a use, so the expected entries are read from the oldest to the latest.
        const due = latest.slice(0, 7).reverse();
        expect(due.map((use) => kept.get(`n${use}`))).toEqual(due);
      }),
    );
    const kept = new RecentlyUsed<number>(LIGHT);
    for (const name of names(100)) kept.set(name, 1, 1);
    expect(names(92).filter((name) => kept.get(name) !== undefined)).toEqual([]);
  });

  it('is the value that was set last under its name', () => {
    const kept = new RecentlyUsed<number>(LIGHT);
    kept.set('a', 1, 1);
    for (const name of names(4)) kept.set(name, 0, 1);
    kept.set('a', 2, 1);
    for (const name of names(4, 4)) kept.set(name, 0, 1);
    expect(kept.get('a')).toBe(2);
  });

  it('is limited by weight too: few large values are kept, and none above a quarter of the capacity', () => {
    const kept = new RecentlyUsed<number>({ entries: 100, weight: 100 });
    for (const name of names(10)) kept.set(name, 1, 20);
    expect(names(10).filter((name) => kept.get(name) !== undefined).length).toBeLessThanOrEqual(5);
    kept.set('small', 1, 1);
    kept.set('large', 1, 26);
    expect(kept.get('large')).toBeUndefined();
    expect(kept.get('small')).toBe(1);
    kept.set('small', 1, 26);
    expect(kept.get('small')).toBeUndefined();
  });

  it('counts once by weight, however often it is set', () => {
    const kept = new RecentlyUsed<number>({ entries: 100, weight: 100 });
    kept.set('other', 1, 1);
    for (let turn = 0; turn < 10; turn += 1) kept.set('often', turn, 20);
    expect([kept.get('other'), kept.get('often')]).toEqual([1, 9]);
  });
});
