import { describe, expect, it } from 'vitest';
import { HOLDER_SILENCE_MS, HolderWatch } from './holder-watch.js';

/** What is said after each reading: [time, beat]. */
const readings = (...read: readonly (readonly [number, string | null])[]): readonly boolean[] => {
  const watch = new HolderWatch();
  return read.map(([atMs, beat]) => watch.isSilent(beat, atMs));
};

describe('the holder of a lease', () => {
  it('stands still when the same beat was read over the whole limit', () => {
    const half = HOLDER_SILENCE_MS / 2;
    expect(readings([0, 'a'], [half, 'a'], [2 * half, 'a'], [2 * half + 1, 'a'])).toEqual([false, false, false, true]);
  });

  it('does not while it beats, however slowly the clock of its beats goes', () =>
    expect(readings([0, 'a'], [4_900, 'b'], [9_800, 'c'], [14_700, 'b'])).toEqual([false, false, false, false]));

  it('is not judged over a pause of whoever waits', () =>
    expect(readings([0, 'a'], [60_000, 'a'], [62_500, 'a'], [65_001, 'a'])).toEqual([false, false, false, true]));

  it('is not judged over a reading that failed', () => {
    const watch = new HolderWatch();
    watch.isSilent('a', 0);
    watch.startAgain();
    expect(watch.isSilent('a', HOLDER_SILENCE_MS + 1)).toBe(false);
  });

  it('is not judged where nothing is known of it', () =>
    expect(readings([0, null], [2_500, null], [5_001, null])).toEqual([false, false, false]));
});
