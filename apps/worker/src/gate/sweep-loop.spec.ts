import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NO_METER } from '#libs/domain/kernel';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { deferred } from '../../../../test/support/deferred.js';
import { SweepLoop } from './sweep-loop.js';

const INTERVAL_MS = 5_000;
const NOTHING = { due: 0, ended: 0 };

describe('the loop of a sweeper', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  const started = (sweep: (signal?: AbortSignal) => Promise<typeof NOTHING>, logger = collectingLogger()) => {
    const counted: string[] = [];
    const meter = { ...NO_METER, sweepEnded: (...round: readonly string[]) => void counted.push(round.join(' ')) };
    const loop = new SweepLoop(
      { name: 'approval_expiry', fault: 'a sweep of what is due failed', sweep },
      INTERVAL_MS,
      { logger, meter },
    );
    loop.start();
    return { loop, counted };
  };
  const pass = async (): Promise<void> => {
    await turn();
    vi.advanceTimersByTime(INTERVAL_MS);
    await turn();
  };

  it('sweeps at its start and at each interval, and counts each round', async () => {
    const sweep = vi.fn(() => Promise.resolve(NOTHING));
    const { loop, counted } = started(sweep);
    expect(sweep).toHaveBeenCalledOnce();
    await pass();
    await loop.stop();
    expect(counted).toEqual(['approval_expiry done', 'approval_expiry done']);
  });

  it('skips a sweep while the one before is under way, and waits for that one when it stops', async () => {
    const released = deferred<typeof NOTHING>();
    const { loop, counted } = started(() => released.promise);
    await pass();
    expect(counted).toEqual(['approval_expiry skipped']);
    const stopped = loop.stop();
    released.resolve(NOTHING);
    await stopped;
    expect(counted.at(-1)).toBe('approval_expiry done');
  });

  it('goes on after a sweep that failed, and says so once', async () => {
    const logger = collectingLogger();
    const { loop, counted } = started(() => Promise.reject(new Error('no store')), logger);
    await pass();
    await pass();
    await loop.stop();
    expect(counted).toEqual(Array(3).fill('approval_expiry error'));
    expect(logger.errors).toHaveLength(1);
  });

  it('starts no sweep after stopSweeping, and aborts the one under way', async () => {
    const signals: (AbortSignal | undefined)[] = [];
    const { loop } = started((signal) => {
      signals.push(signal);
      return Promise.resolve(NOTHING);
    });
    loop.stopSweeping();
    await pass();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
    await loop.stop();
  });
});
