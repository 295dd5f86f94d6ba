import { describe, expect, it } from 'vitest';
import { HOLDER_SILENCE_MS, HolderWatch } from './holder-watch.js';

/** What is said after each reading: [time, beat]. */
const readings = (...read: readonly (readonly [number, string | null])[]): readonly boolean[] => {
  const watch = new HolderWatch();
  return read.map(([atMs, beat]) => watch.isSilent(beat, atMs));
};

const LIMIT = HOLDER_SILENCE_MS;
const HALF = LIMIT / 2;
const ALMOST = LIMIT - 1;

describe('the holder of a lease', () => {
  it('stands still when the same beat was read over the whole limit', () =>
    expect(readings([0, 'a'], [HALF, 'a'], [LIMIT, 'a'], [LIMIT + 1, 'a'])).toEqual([false, false, false, true]));

  it('does not while it beats, however slowly the clock of its beats goes', () =>
    expect(readings([0, 'a'], [ALMOST, 'b'], [2 * ALMOST, 'c'], [3 * ALMOST, 'b'])).toEqual([
      false,
      false,
      false,
      false,
    ]));

  it('is not judged over a pause of whoever waits', () =>
    expect(readings([0, 'a'], [60_000, 'a'], [60_000 + HALF, 'a'], [60_001 + LIMIT, 'a'])).toEqual([
      false,
      false,
      false,
      true,
    ]));

  it('is not judged over a reading that failed', () => {
    const watch = new HolderWatch();
    watch.isSilent('a', 0);
    watch.startAgain();
    expect(watch.isSilent('a', LIMIT + 1)).toBe(false);
  });

  it('is not judged where nothing is known of it', () =>
    expect(readings([0, null], [HALF, null], [LIMIT + 1, null])).toEqual([false, false, false]));
});
