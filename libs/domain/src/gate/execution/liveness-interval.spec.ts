import { describe, expect, it } from 'vitest';
import { ExecutorSilence } from './executor-silence.js';
import { livenessIntervalFor } from '../kernel/index.js';

describe('how often a process beats', () => {
  it.each([200, 400, 2_000, 5_000, 60_000])(
    'lets others notice within two intervals that it is silent for %i ms',
    (limitMs) => {
      const intervalMs = livenessIntervalFor(limitMs);
      const silence = new ExecutorSilence(limitMs);
      for (let now = 0; now <= limitMs + intervalMs; now += intervalMs) {
        silence.observe(new Map([['exe_1', 7]]), ['exe_1'], { askedMs: now, answeredMs: now });
      }
      expect(silence.isSilent('exe_1')).toBe(true);
      expect(intervalMs).toBeLessThanOrEqual(1_000);
    },
  );
});
