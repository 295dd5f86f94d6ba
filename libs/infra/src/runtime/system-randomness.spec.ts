import { describe, expect, it } from 'vitest';
import { SystemRandomness } from './system-randomness.js';

describe('random bytes of the system', () => {
  it('are as many as were asked for, even more than the pool has', () => {
    const randomness = new SystemRandomness();
    for (const length of [0, 1, 16, 40, 4_095, 4_096, 4_097, 100_000]) {
      expect(randomness.bytes(length)).toHaveLength(length);
    }
  });

  it('are never the same twice, never zeros, and never change after they were handed out', () => {
    const randomness = new SystemRandomness();
    const taken = Array.from({ length: 2_000 }, () => randomness.bytes(16));
    const texts = taken.map((bytes) => Buffer.from(bytes).toString('hex'));
    expect(new Set([...texts, '0'.repeat(32)]).size).toBe(2_001);
  });
});
