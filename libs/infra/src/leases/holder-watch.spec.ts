import { describe, expect, it } from 'vitest';
import { HOLDER_SILENCE_MS, HolderWatch } from './holder-watch.js';

/** What `isSilent` returns after each reading: [time, beat]. */
const readings = (...read: readonly (readonly [number, string | null])[]): readonly boolean[] => {
  const watch = new HolderWatch();
  return read.map(([atMs, beat]) => watch.isSilent(beat, atMs));
};

const LIMIT = HOLDER_SILENCE_MS;
const HALF = LIMIT / 2;
const ALMOST = LIMIT - 1;

describe('the holder of a lease', () => {
  it('is silent if the same beat was read over the whole limit', () =>
    expect(readings([0, 'a'], [HALF, 'a'], [LIMIT, 'a'], [LIMIT + 1, 'a'])).toEqual([false, false, false, true]));

  it('is not silent while its beat changes, however slow the clock of its beats is', () =>
    expect(readings([0, 'a'], [ALMOST, 'b'], [2 * ALMOST, 'c'], [3 * ALMOST, 'b'])).toEqual([
      false,
      false,
      false,
      false,
    ]));

  it('is not judged by a time in which the waiting process itself paused', () =>
    expect(readings([0, 'a'], [60_000, 'a'], [60_000 + HALF, 'a'], [60_001 + LIMIT, 'a'])).toEqual([
      false,
      false,
      false,
      true,
    ]));

  it('is not judged by a time with a failed reading', () => {
    const watch = new HolderWatch();
    watch.isSilent('a', 0);
    watch.startAgain();
    expect(watch.isSilent('a', LIMIT + 1)).toBe(false);
  });

  it('is not judged if no beat was read', () =>
    expect(readings([0, null], [HALF, null], [LIMIT + 1, null])).toEqual([false, false, false]));
});
