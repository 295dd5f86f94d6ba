import { describe, expect, it } from 'vitest';
import { ClaimWatch } from './claim-watch.js';

const STEP_MS = 10_000;

describe('a claim', () => {
  it('has been watched for as long as it was seen again and again', () => {
    const watch = new ClaimWatch(STEP_MS);
    expect([0, 5_000, 10_000, 15_000].map((now) => watch.see('c1', now))).toEqual([0, 5_000, 10_000, 15_000]);
  });

  it('has not been watched during a pause of the watcher’s own', () => {
    const watch = new ClaimWatch(STEP_MS);
    expect([0, 40_000, 45_000].map((now) => watch.see('c1', now))).toEqual([0, STEP_MS, STEP_MS + 5_000]);
  });

  it('is watched independently of other claims', () => {
    const watch = new ClaimWatch(STEP_MS);
    watch.see('c1', 0);
    expect(watch.see('c2', 5_000)).toBe(0);
  });

  it('is forgotten once it is not current any more', () => {
    const watch = new ClaimWatch(STEP_MS);
    for (const claim of ['c1', 'c2']) watch.see(claim, 0);
    watch.keepOnly(new Set(['c2']));
    expect(['c1', 'c2'].map((claim) => watch.see(claim, 5_000))).toEqual([0, 5_000]);
  });
});
