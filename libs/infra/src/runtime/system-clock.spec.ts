import { describe, expect, it } from 'vitest';
import { SystemClock, SystemRandomness } from './index.js';

describe('the system clock', () => {
  it('gives Unix milliseconds, and monotonic milliseconds that never decrease', () => {
    const clock = new SystemClock();
    const [before, now, after] = [Date.now(), clock.nowMs(), Date.now()];
    expect([now >= before, now <= after]).toEqual([true, true]);
    const [first, second] = [clock.monotonicMs(), clock.monotonicMs()];
    expect(second).toBeGreaterThanOrEqual(first);
  });
});

describe('the system’s randomness', () => {
  it('gives as many bytes as were asked for, and never the same', () => {
    const randomness = new SystemRandomness();
    const drawn = Array.from({ length: 100 }, () => randomness.bytes(16));
    expect(drawn.every((bytes) => bytes.length === 16)).toBe(true);
    expect(new Set(drawn.map((bytes) => bytes.join())).size).toBe(100);
  });
});
