import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SweptPage } from '#libs/domain/gate';
import { NO_METER, type Meter } from '#libs/domain/kernel';
import { collectingLogger } from '../../../test/support/collecting-logger.js';
import { deferred } from '../../../test/support/deferred.js';
import { Housekeeping, type HousekeepingParts } from './housekeeping.js';

const SETTINGS = { intervalMs: 60_000, pagePauseMs: 0 };
const NOTHING: SweptPage = { removed: 0, hasMore: false };
const MORE: SweptPage = { removed: 1, hasMore: true };

/** Parts that find nothing to do, but for what a test says. */
const partsWith = (changes: Partial<HousekeepingParts>): HousekeepingParts => ({
  connectorHealth: { sweep: () => Promise.resolve(0) },
  toolDefinitions: { sweep: () => Promise.resolve(0) },
  credentials: { sweep: () => Promise.resolve(0) },
  idempotency: { purge: () => Promise.resolve(0) },
  liveness: { removeForgotten: () => Promise.resolve(0) },
  budgets: { removeEnded: () => Promise.resolve(0) },
  nonces: { removeExpired: () => Promise.resolve(0) },
  payloads: { sweepPage: () => Promise.resolve(NOTHING) },
  people: { purge: () => Promise.resolve(0) },
  webhooks: { sweepSecrets: () => Promise.resolve(0), removeEnded: () => Promise.resolve(0) },
  ...changes,
});

const started = (
  changes: Partial<HousekeepingParts>,
  logger = collectingLogger(),
  meter: Meter = NO_METER,
): Housekeeping => {
  const housekeeping = new Housekeeping(partsWith(changes), { logger, meter }, SETTINGS);
  housekeeping.start();
  return housekeeping;
};
/** The time of `rounds` rounds, and all that they do without waiting for anybody. */
const pass = async (rounds: number): Promise<void> => {
  for (let round = 0; round < rounds; round += 1) {
    vi.advanceTimersByTime(SETTINGS.intervalMs);
    await turn();
  }
};

describe('housekeeping', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
  afterEach(() => void vi.useRealTimers());

  it('sweeps payloads page by page until none is left', async () => {
    const pages = [MORE, MORE, NOTHING, MORE];
    const lastOfRound = deferred();
    const sweepPage = () => {
      const page = pages.shift() ?? NOTHING;
      if (!page.hasMore) lastOfRound.resolve();
      return Promise.resolve(page);
    };
    const housekeeping = started({ payloads: { sweepPage } });
    await pass(1);
    await lastOfRound.promise;
    await housekeeping.stop();
    expect(pages).toEqual([MORE]);
  });

  it('does not let one kind of row that cannot be removed keep the others, and says so', async () => {
    const logger = collectingLogger();
    const sweepPage = vi.fn(() => Promise.resolve(NOTHING));
    const credentials = { sweep: () => Promise.reject(new Error('no vault')) };
    const idempotency = { purge: () => Promise.reject(new Error('no purge')) };
    const liveness = { removeForgotten: () => Promise.reject(new Error('no beats')) };
    const housekeeping = started({ credentials, idempotency, liveness, payloads: { sweepPage } }, logger);
    await pass(1);
    await housekeeping.stop();
    expect(sweepPage).toHaveBeenCalledOnce();
    expect(logger.warnings.map(({ rows }) => rows)).toEqual([
      'credential versions',
      'idempotency keys',
      'beats of ended processes',
    ]);
  });

  it('forgets processes that have not beaten for a day', async () => {
    const removeForgotten = vi.fn(() => Promise.resolve(1));
    const housekeeping = started({ liveness: { removeForgotten } });
    await pass(1);
    await housekeeping.stop();
    expect(removeForgotten).toHaveBeenCalledExactlyOnceWith(24 * 60 * 60 * 1000);
  });

  it('does not begin a round before the last one is over', async () => {
    const page = deferred<SweptPage>();
    const sweepPage = vi.fn(() => page.promise);
    const housekeeping = started({ payloads: { sweepPage } });
    await pass(3);
    expect(sweepPage).toHaveBeenCalledOnce();
    page.resolve(NOTHING);
    await turn();
    await pass(1);
    expect(sweepPage).toHaveBeenCalledTimes(2);
    await housekeeping.stop();
  });

  it('counts what became of a round: done, failed, or left out because the one before was under way', async () => {
    const page = deferred<SweptPage>();
    const sweepEnded = vi.fn();
    const purge = vi.fn(() => Promise.resolve(0));
    const parts = { idempotency: { purge }, payloads: { sweepPage: () => page.promise } };
    const housekeeping = started(parts, collectingLogger(), { ...NO_METER, sweepEnded });
    await pass(2);
    page.resolve(NOTHING);
    await turn();
    purge.mockRejectedValueOnce(new Error('no purge'));
    await pass(1);
    await housekeeping.stop();
    expect(sweepEnded.mock.calls).toEqual([
      ['idempotency_release', 'done'],
      ['idempotency_release', 'skipped'],
      ['idempotency_release', 'error'],
    ]);
  });

  it('stops after the page under way, however many are left', async () => {
    const page = deferred<SweptPage>();
    const sweepPage = vi.fn(() => page.promise);
    const housekeeping = started({ payloads: { sweepPage } });
    await pass(1);
    const stopped = housekeeping.stop();
    page.resolve(MORE);
    await stopped;
    await pass(3);
    expect(sweepPage).toHaveBeenCalledOnce();
  });
});
