import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreUnavailable, type ActionId, type OrgId } from '#libs/domain/kernel';
import type { RemovedBatch } from '#libs/domain/ledger';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { DAY_MS, RetentionScene } from '../../../../test/support/retention-scene.js';
import { RetentionLoop, type RetentionParts } from './retention-loop.js';

const SETTINGS = { intervalMs: 20, batchPauseMs: 1, lookPauseMs: 1 };
const ORGS = ['org_a', 'org_b', 'org_c'] as OrgId[];
const NOTHING: RemovedBatch = { deeds: 0, removed: 0, hasMore: false };
const MORE: RemovedBatch = { deeds: 2, removed: 4, hasMore: true };

let holding: AbortController;
let running: Promise<void> = Promise.resolve();
beforeEach(() => {
  holding = new AbortController();
});
afterEach(async () => {
  holding.abort();
  await running;
});

const start = (parts: Partial<RetentionParts>, settings = SETTINGS) => {
  const logger = collectingLogger();
  const loop = new RetentionLoop(
    {
      retention: { removeBatch: () => Promise.resolve(NOTHING) },
      organizations: () => Promise.resolve(ORGS),
      logger,
      ...parts,
    },
    settings,
  );
  running = loop.run(holding.signal);
  return logger;
};

describe('rounds of retention', () => {
  it('begin at once, and go on with each organization until nothing of it is due', async () => {
    const batches: Record<string, RemovedBatch[]> = { org_b: [MORE, MORE] };
    const removeBatch = vi.fn((org: OrgId) => Promise.resolve(batches[org]?.shift() ?? NOTHING));
    start({ retention: { removeBatch } }, { ...SETTINGS, intervalMs: 60_000 });
    await vi.waitFor(() => expect(removeBatch).toHaveBeenCalledTimes(5), { timeout: 20_000 });
    expect(removeBatch.mock.calls.flat()).toEqual(['org_a', 'org_b', 'org_b', 'org_b', 'org_c']);
  });

  it('repeat even if the last one failed', async () => {
    const organizations = vi
      .fn<() => Promise<readonly OrgId[]>>()
      .mockRejectedValueOnce(new StoreUnavailable('away'))
      .mockResolvedValue(ORGS);
    const removeBatch = vi.fn(() => Promise.resolve(NOTHING));
    const logger = start({ organizations, retention: { removeBatch } });
    await vi.waitFor(() => expect(removeBatch.mock.calls.length).toBeGreaterThan(6), { timeout: 20_000 });
    expect(logger.warnings).toHaveLength(1);
  });

  it('continue with the next organization if one cannot be read, and log which one', async () => {
    const seen: OrgId[] = [];
    const removeBatch = (org: OrgId): Promise<RemovedBatch> => {
      seen.push(org);
      return org === 'org_b' ? Promise.reject(new StoreUnavailable('damaged')) : Promise.resolve(NOTHING);
    };
    const logger = start({ retention: { removeBatch } }, { ...SETTINGS, intervalMs: 60_000 });
    await vi.waitFor(() => expect(seen).toEqual(ORGS), { timeout: 20_000 });
    expect(logger.warnings).toMatchObject([{ org: 'org_b' }]);
  });

  it('end after the batch under way when they are stopped', async () => {
    const removeBatch = vi.fn(() => {
      holding.abort();
      return Promise.resolve(MORE);
    });
    start({ retention: { removeBatch } }, { intervalMs: 60_000, batchPauseMs: 60_000, lookPauseMs: 60_000 });
    await running;
    expect(removeBatch).toHaveBeenCalledTimes(1);
  });

  it('remove the bodies that are due in every organization, and no others, in small batches', async () => {
    const scene = await RetentionScene.start();
    const [one, two] = [await scene.organization(), await scene.organization()];
    const old: ActionId[] = [];
    for (const org of [one, two, one, one]) old.push(await scene.sealed(org));
    scene.pass(90 * DAY_MS + 1);
    const young = await scene.sealed(two);
    start({ retention: scene.retention(2), organizations: () => Promise.resolve([one, two]) });
    await vi.waitFor(async () => expect(await scene.bodiesOf(...old)).toEqual([0, 0, 0, 0]), { timeout: 20_000 });
    expect(await scene.bodiesOf(young)).toEqual([2]);
    scene.pass(90 * DAY_MS);
    // Not removed yet: the deed is exactly as old as its days, not older.
    await new Promise((resolve) => setTimeout(resolve, 5 * SETTINGS.intervalMs));
    expect(await scene.bodiesOf(young)).toEqual([2]);
    scene.pass(1);
    await vi.waitFor(async () => expect(await scene.bodiesOf(young)).toEqual([0]), { timeout: 20_000 });
    holding.abort();
    await running;
    await scene.close();
  });
});
