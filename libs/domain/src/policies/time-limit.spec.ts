import { describe, expect, it } from 'vitest';

import { runWithin } from './time-limit.js';

const forever = (): never => {
  for (;;);
};

/** Waits without using the processor, as when the machine gives it to others. */
const wait = (durationMs: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, durationMs);
};

/** Of a thread that was given nothing: the clock of a process also sees what other threads of it do. */
const idle = (): number => 0;

const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

describe('time limit: synchronous work ends at its limit', () => {
  it('work within it gives its value', () =>
    expect(runWithin(50, () => 'value')).toEqual({ hasEnded: true, value: 'value' }));

  it('work without end is ended', () => {
    const started = processorMs();
    expect(runWithin(50, forever)).toEqual({ hasEnded: false });
    expect(processorMs() - started).toBeGreaterThanOrEqual(50);
  });

  it('work that catches everything is ended too', () =>
    expect(
      runWithin(20, () => {
        for (;;) {
          try {
            forever();
          } catch (error) {
            String(error);
          } finally {
            String('again');
          }
        }
      }),
    ).toEqual({ hasEnded: false }));

  it('an error of the work is an error', () =>
    expect(() =>
      runWithin(50, () => {
        throw new TypeError('broken');
      }),
    ).toThrow(TypeError));

  it('after work was ended, the next one runs as ever', () => {
    runWithin(5, forever);
    expect(runWithin(50, () => 2)).toEqual({ hasEnded: true, value: 2 });
  });
});

describe('time limit: it is for the work itself, not for a busy machine', () => {
  it('a run that did not get the processor is made again', () => {
    let runs = 0;
    const work = (): number => {
      runs += 1;
      // The first run is kept from the processor for longer than the limit.
      if (runs === 1) wait(60);
      return runs;
    };
    expect(runWithin(20, work, idle)).toEqual({ hasEnded: true, value: 2 });
  });

  it('a run that never gets the processor ends in the end', () => {
    let looks = 0;
    const clock = (): number => {
      looks += 1;
      return idle();
    };
    expect(runWithin(5, () => wait(1_000), clock)).toEqual({ hasEnded: false });
    // Once before the first attempt and once after each, also where a machine that stands still ends one before its work.
    expect(looks).toBe(1 + 20);
  });

  it('a loop that was busy before does not count', () => {
    const started = performance.now();
    while (performance.now() - started < 100);
    expect(runWithin(50, () => 1)).toEqual({ hasEnded: true, value: 1 });
  });
});
