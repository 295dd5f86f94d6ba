import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EndSignal, StoreUnavailable } from '#libs/domain/kernel';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { deferred } from '../../../../test/support/deferred.js';
import { DiscoveryLoop } from './discovery-loop.js';

const LONG_MS = 60_000;

let holding: AbortController;
let running: Promise<void> = Promise.resolve();
beforeEach(() => {
  holding = new AbortController();
});
afterEach(async () => {
  holding.abort();
  await running;
});

const start = (sweep: (signal: EndSignal) => Promise<void>, intervalMs = 1) => {
  const logger = collectingLogger();
  const loop = new DiscoveryLoop({ sweep }, logger, intervalMs);
  running = loop.run(holding.signal);
  return { loop, logger };
};

describe('sweeps for servers that nobody has asked', () => {
  it('begin at once, and come again', async () => {
    const sweep = vi.fn(() => Promise.resolve());
    start(sweep);
    expect(sweep).toHaveBeenCalledOnce();
    await vi.waitFor(() => expect(sweep.mock.calls.length).toBeGreaterThan(3), { timeout: 20_000 });
  });

  it('never overtake each other', async () => {
    const release = deferred();
    const sweep = vi.fn(() => release.promise);
    const { loop } = start(sweep);
    for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(sweep).toHaveBeenCalledOnce();
    loop.takeUpNothingMore();
    release.resolve();
  });

  it('come again after one that failed, which is said once', async () => {
    const sweep = vi.fn(() => Promise.reject(new StoreUnavailable('away')));
    const { logger } = start(sweep);
    await vi.waitFor(() => expect(sweep.mock.calls.length).toBeGreaterThan(3), { timeout: 20_000 });
    expect(logger.warnings).toHaveLength(1);
  });

  it('end with the lease, without waiting for a server', async () => {
    let heard: EndSignal | null = null;
    const { logger } = start((signal) => {
      heard = signal;
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new Error('the pool is closed'))),
      );
    });
    holding.abort();
    await running;
    expect(heard).toMatchObject({ aborted: true });
    expect(logger.warnings).toEqual([]);
  });

  it('end where the process takes up nothing more, and begin no more under another lease', async () => {
    const sweep = vi.fn(() => Promise.resolve());
    const { loop } = start(sweep, LONG_MS);
    loop.takeUpNothingMore();
    await running;
    await loop.run(holding.signal);
    expect(sweep).toHaveBeenCalledOnce();
  });
});
