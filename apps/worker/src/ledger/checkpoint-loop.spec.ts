import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { StoreUnavailable, type OrgId } from '#libs/domain/kernel';
import { SystemRandomness } from '#libs/infra/runtime';
import { CheckpointScene, type CheckpointProcess } from '../../../../test/support/checkpoint-scene.js';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { CheckpointLoop, type CheckpointLoopParts } from './checkpoint-loop.js';

const HELD = new AbortController().signal;

let scene: CheckpointScene;
let service: CheckpointProcess;
let orgs: readonly OrgId[];
beforeAll(async () => {
  scene = await CheckpointScene.start();
});
afterAll(() => scene.close());
beforeEach(async () => {
  service = scene.process();
  orgs = [await scene.organization(2), await scene.organization(3)];
});

const loopOf = (parts: Partial<CheckpointLoopParts> = {}, intervalMs = 1) => {
  const logger = collectingLogger();
  const { maker, store } = service;
  const organizations = () => Promise.resolve(orgs);
  const own = { maker, store, organizations, clock: scene.bench.clock, randomness: new SystemRandomness(), logger };
  return { loop: new CheckpointLoop({ ...own, ...parts }, intervalMs), logger };
};
const sizes = () => Promise.all(orgs.map((org) => scene.sizes(org)));

describe('a round of checkpoints', () => {
  it('signs for every organization whose head has moved, and asks nothing of the others', async () => {
    const make = vi.spyOn(service.maker, 'make');
    const { loop } = loopOf();
    await loop.round(HELD);
    expect(await sizes()).toEqual([[2], [3]]);
    await loop.round(HELD);
    expect(make).toHaveBeenCalledTimes(2);
    await scene.deeds(orgs[0] as OrgId, 1);
    // The second ledger has grown, too: by the deed that says which key signs.
    await loop.round(HELD);
    expect((await sizes()).map((made) => made.length)).toEqual([2, 2]);
    await loop.round(HELD);
    expect(make).toHaveBeenCalledTimes(4);
  });

  it('passes by a ledger that is broken, and says so once', async () => {
    const { loop, logger } = loopOf();
    await loop.round(HELD);
    await scene.cutLedger(orgs[0] as OrgId, 1);
    await scene.deeds(orgs[1] as OrgId, 1);
    service = scene.process();
    const anew = loopOf();
    await anew.loop.round(HELD);
    await anew.loop.round(HELD);
    expect((await sizes())[0]).toEqual([2]);
    expect((await sizes())[1]).toHaveLength(2);
    expect(logger.errors).toHaveLength(0);
    expect(anew.logger.errors).toHaveLength(1);
  });

  it('goes on with the next one where one could not be signed for, and tries that again', async () => {
    const { maker } = service;
    const make: typeof maker.make = vi
      .fn((...asked: Parameters<typeof maker.make>) => maker.make(...asked))
      .mockRejectedValueOnce(new StoreUnavailable('away'));
    const { loop, logger } = loopOf({ maker: { make } });
    await loop.round(HELD);
    expect((await sizes()).flat()).toHaveLength(1);
    expect(logger.warnings).toHaveLength(1);
    await loop.round(HELD);
    expect(await sizes()).toEqual([[2], [3]]);
  });
});

describe('the loop', () => {
  it('goes round until it is stopped', async () => {
    const held = new AbortController();
    const organizations = vi.fn(() => Promise.resolve(orgs));
    const running = loopOf({ organizations }).loop.run(held.signal);
    await vi.waitFor(() => expect(organizations.mock.calls.length).toBeGreaterThan(2), { timeout: 20_000 });
    held.abort();
    await running;
    expect((await sizes()).every((made) => made.length > 0)).toBe(true);
  });
});
