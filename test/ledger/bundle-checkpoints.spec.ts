import { afterAll, beforeAll, expect, it } from 'vitest';
import type { OrgId } from '#libs/domain/kernel';
import { type BundleSigning, LedgerProofs, LedgerReader, SignedBundleCheckpoints } from '#libs/domain/ledger';
import { SystemRandomness } from '#libs/infra/runtime';
import { CheckpointScene, type CheckpointProcess, NO_OTHER_TREES } from '../support/checkpoint-scene.js';

const MINUTE = 60_000;

let scene: CheckpointScene;
let service: CheckpointProcess;
beforeAll(async () => {
  scene = await CheckpointScene.start();
  service = scene.process();
});
afterAll(() => scene.close());

const covered = async (org: OrgId, signing: BundleSigning): Promise<boolean> => {
  const { journal, trees, store, maker, policies } = service;
  const proofs = new LedgerProofs(journal, trees, NO_OTHER_TREES, policies);
  const ledger = new LedgerReader(store);
  const checkpoints = new SignedBundleCheckpoints(proofs, ledger, maker, scene.bench.clock, new SystemRandomness());
  const last = await ledger.lastSeq(org);
  return (await checkpoints.covering(org, { first: 1, last }, signing)) !== null;
};

it('a bundle of which nothing is read has nothing signed for it, however late it is', async () => {
  const org = await scene.organization(3);
  scene.bench.clock.ms += 10 * MINUTE;
  expect(await covered(org, 'never')).toBe(false);
  expect(await scene.events(org)).toEqual([]);
});

it('who only reads gets what is signed already, and has nothing signed that the worker has still time for', async () => {
  const org = await scene.organization(3);
  expect(await covered(org, 'when_late')).toBe(false);
  scene.bench.clock.ms += MINUTE;
  expect(await covered(org, 'when_late')).toBe(false);
  expect(await scene.events(org)).toEqual([]);
  await service.make(org);
  expect(await covered(org, 'when_late')).toBe(true);
});

it('who only reads has it signed where the worker should have, also after an earlier checkpoint', async () => {
  const org = await scene.organization(3);
  scene.bench.clock.ms += 3 * MINUTE;
  expect(await covered(org, 'when_late')).toBe(true);
  // The deed about the key, and one more: the checkpoint before is old, and they are not.
  scene.bench.clock.ms += 10 * MINUTE;
  await scene.deeds(org, 1);
  expect(await covered(org, 'when_late')).toBe(false);
  scene.bench.clock.ms += 3 * MINUTE;
  expect(await covered(org, 'when_late')).toBe(true);
  expect(await scene.sizes(org)).toEqual([3, 5]);
});

it('who may make a checkpoint has it signed at once', async () => {
  const org = await scene.organization(3);
  expect(await covered(org, 'at_once')).toBe(true);
  expect(await scene.sizes(org)).toEqual([3]);
});
