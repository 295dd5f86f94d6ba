import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ed25519Cosigner, encodeVkey, SigningKey } from '#libs/crypto';
import { NO_METER, type OrgId, StoreUnavailable } from '#libs/domain/kernel';
import type { Asking } from '#libs/domain/ledger';
import { CheckpointScene, type CheckpointProcess } from '../../../../test/support/checkpoint-scene.js';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { deferred } from '../../../../test/support/deferred.js';
import { WitnessLoop, type WitnessLoopParts } from './witness-loop.js';

const HELD = new AbortController().signal;

let scene: CheckpointScene;
let service: CheckpointProcess;
let orgs: readonly OrgId[];
beforeAll(async () => {
  scene = await CheckpointScene.start();
  service = scene.process();
});
afterAll(() => scene.close());
beforeEach(async () => {
  orgs = [await scene.organization(2), await scene.organization(2), await scene.organization(2)];
  // The second one asks nobody.
  for (const org of [orgs[0] as OrgId, orgs[2] as OrgId]) {
    const { vkey } = ed25519Cosigner('w', SigningKey.generate(), 1);
    const witnesses = [{ name: 'w', vkey: encodeVkey(vkey), url: 'http://127.0.0.1:9' }];
    await service.policies.replace(org, { quorum: 1, witnesses }, scene.metadata(org));
    await service.make(org);
  }
});

const loopOf = (parts: Partial<WitnessLoopParts> = {}, intervalMs = 1) => {
  const logger = collectingLogger();
  const { asking, watch, store } = service;
  const organizations = () => Promise.resolve(orgs);
  const own = { asking, watch, store, organizations, logger, meter: NO_METER };
  return { loop: new WitnessLoop({ ...own, ...parts }, intervalMs), logger };
};
const nobody: readonly Asking[] = [];

describe('a pass over witnesses', () => {
  it('asks those of every organization that has some, and waits for none of them', async () => {
    const answered = deferred();
    const begin = vi.fn(async (org: OrgId) => {
      if (org === orgs[0]) await answered.promise;
      return nobody;
    });
    const { loop } = loopOf({ asking: { begin } });
    await loop.pass(HELD);
    // The first one is still being asked, so it is not asked twice at once.
    await loop.pass(HELD);
    answered.resolve();
    await loop.idle();
    expect(begin.mock.calls.map(([org]) => org).filter((org) => org === orgs[0])).toHaveLength(1);
    expect(begin.mock.calls.map(([org]) => org).filter((org) => org === orgs[2])).toHaveLength(2);
    expect(begin.mock.calls.map(([org]) => org)).not.toContain(orgs[1]);
  });

  it('goes on with the next organization where one could not be asked for, and says so once', async () => {
    const begin = vi.fn(() => Promise.reject(new StoreUnavailable('away')));
    const { loop, logger } = loopOf({ asking: { begin } });
    await loop.pass(HELD);
    await loop.idle();
    await loop.pass(HELD);
    await loop.idle();
    expect(begin).toHaveBeenCalledTimes(4);
    expect(logger.warnings).toHaveLength(1);
  });

  it('tells the meter how long the deed that waits longest has waited', async () => {
    const ledgersWitnessed = vi.fn();
    const { loop } = loopOf({ meter: { ...NO_METER, ledgersWitnessed } });
    scene.bench.clock.ms += 7_200_000;
    await loop.pass(HELD);
    await loop.idle();
    expect(ledgersWitnessed.mock.lastCall?.[0]).toBeGreaterThanOrEqual(7_200_000);
  });

  it('keeps what came of it', async () => {
    const { loop } = loopOf();
    await loop.pass(HELD);
    await loop.idle();
    const { origin } = await service.journal.tail(orgs[0] as OrgId);
    const [standing] = (await service.standings.of(orgs[0] as OrgId, origin ?? '')).values();
    expect(standing).toMatchObject({ result: 'failing', detail: 'It cannot be reached.' });
  });
});

describe('the loop', () => {
  it('passes until it is stopped, and then tells the meter no more', async () => {
    const held = new AbortController();
    const ledgersWitnessed = vi.fn();
    const organizations = vi.fn(() => Promise.resolve(orgs));
    const running = loopOf({ organizations, meter: { ...NO_METER, ledgersWitnessed } }).loop.run(held.signal);
    await vi.waitFor(() => expect(organizations.mock.calls.length).toBeGreaterThan(2), { timeout: 20_000 });
    held.abort();
    await running;
    expect(ledgersWitnessed.mock.lastCall).toEqual([0]);
  });
});
