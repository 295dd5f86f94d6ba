import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type OrgId, placeFailpoints } from '#libs/domain/kernel';
import { LedgerInconsistent } from '#libs/domain/ledger';
import { signedTreesPath } from '#libs/infra/ledger';
import { CheckpointScene, type CheckpointProcess } from '../support/checkpoint-scene.js';

let scene: CheckpointScene;
beforeAll(async () => {
  scene = await CheckpointScene.start();
});
afterAll(() => scene.close());
afterEach(async () => {
  placeFailpoints(null);
  await scene.endProcesses();
});

const fileOf = (org: OrgId): string => join(signedTreesPath(scene.stateDir), org);
const originOf = (org: OrgId): string => `governance.example/ledger/${org}`;
/** Everything that was ever signed: one root a size and origin. */
const signed = new Map<string, string>();
const sign = async (org: OrgId, by: CheckpointProcess = scene.process()): Promise<string> => {
  const made = await by.make(org);
  const { origin, size, root } = made?.signed.checkpoint ?? { origin: '', size: 0, root: new Uint8Array() };
  const [key, text] = [`${origin} ${size}`, Buffer.from(root).toString('base64')];
  expect(signed.get(key) ?? text, 'two roots for one size').toBe(text);
  signed.set(key, text);
  return origin;
};
const refused = (org: OrgId, reason: string): Promise<void> =>
  expect(scene.process().make(org)).rejects.toMatchObject({ name: 'LedgerInconsistent', broken: { org, reason } });
const accept = (org: OrgId, by: CheckpointProcess = scene.process()): Promise<unknown> =>
  by.maker.acceptBreak(org, 'The disk was lost', scene.metadata(org));

/** A backup of 5 deeds, and 4 deeds of which a checkpoint was signed since. */
const signedSinceBackup = async () => {
  const org = await scene.organization(5);
  await sign(org);
  await scene.deeds(org, 0);
  const backup = await scene.backUp(org);
  await scene.deeds(org, 4);
  await sign(org);
  return { org, backup };
};

describe('what was signed last', () => {
  it('is remembered outside of the database before a checkpoint leaves', async () => {
    const org = await scene.organization(3);
    const made = await scene.process().make(org);
    const root = Buffer.from(made?.signed.checkpoint.root ?? []).toString('base64');
    expect(await readFile(fileOf(org), 'utf8')).toBe(`${originOf(org)} 3 ${root} 0\n`);
  });

  it('is remembered from the log where the state directory is a new one', async () => {
    const org = await scene.organization(3);
    await sign(org);
    await rm(fileOf(org));
    await scene.deeds(org, 0);
    await sign(org);
    await sign(org);
    expect(await readFile(fileOf(org), 'utf8')).toContain(`${originOf(org)} 4 `);
  });

  it('holds against a whole backup that was put back, also after it grew past it', async () => {
    const { org, backup } = await signedSinceBackup();
    await scene.restore(org, backup);
    await refused(org, 'shorter');
    await scene.pool.query('delete from ledger.broken_ledgers');
    await scene.deeds(org, 7);
    await refused(org, 'other_root');
  });

  it('holds against a backup from before the first checkpoint', async () => {
    const org = await scene.organization(5);
    const backup = await scene.backUp(org);
    await scene.deeds(org, 2);
    await sign(org);
    await scene.restore(org, backup);
    await scene.deeds(org, 3);
    await refused(org, 'other_root');
  });

  it('keeps the origin where the database has forgotten all that was signed and no deed', async () => {
    const org = await scene.organization(5);
    const backup = await scene.backUp(org);
    await sign(org);
    await scene.restore(org, backup);
    expect(await sign(org, scene.process('https://elsewhere.example'))).toBe(originOf(org));
  });

  it('is no reason to refuse a ledger that holds all of it', async () => {
    const { org } = await signedSinceBackup();
    await scene.deeds(org, 1);
    expect(await sign(org)).toBe(originOf(org));
  });

  it('that cannot be kept or read is a reason to sign nothing', async () => {
    const org = await scene.organization(3);
    await writeFile(fileOf(org), 'something else');
    await expect(scene.process().make(org)).rejects.toMatchObject({ name: 'StoreUnavailable' });
    await rm(fileOf(org));
    const stateDir = await mkdtemp(join(tmpdir(), 'checkpoints-'));
    await writeFile(signedTreesPath(stateDir), 'no folder');
    await expect(scene.process(undefined, stateDir).make(org)).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(await scene.sizes(org)).toEqual([]);
    await rm(stateDir, { recursive: true });
  });
});

describe('an origin after an accepted break', () => {
  it('is one that was never used, also after the same backup was put back twice', async () => {
    const { org, backup } = await signedSinceBackup();
    for (const number of [1, 2]) {
      await scene.restore(org, backup);
      await scene.deeds(org, 4);
      await expect(scene.process().make(org)).rejects.toBeInstanceOf(LedgerInconsistent);
      await accept(org);
      expect(await sign(org)).toBe(`${originOf(org)}/${number}`);
      await scene.deeds(org, 1);
      await sign(org);
    }
  });

  it('of which the database knows nothing is a break of its own', async () => {
    const { org, backup } = await signedSinceBackup();
    await scene.restore(org, backup);
    await expect(accept(org)).resolves.toMatchObject({ signed: { checkpoint: { origin: `${originOf(org)}/1` } } });
    await scene.restore(org, backup);
    await refused(org, 'other_origin');
  });

  it('has the time for its number where the state directory remembers none', async () => {
    const { org, backup } = await signedSinceBackup();
    const origins = new Set<string>();
    for (let round = 0; round < 2; round += 1) {
      await scene.restore(org, backup);
      await rm(fileOf(org));
      const living = scene.process();
      await living.breaks.accept(org, 'Sealed on without deeds', scene.metadata(org));
      origins.add(await sign(org, living));
    }
    expect(origins.size).toBe(2);
    for (const origin of origins) expect(origin).toMatch(/\/1\d{9}$/);
  });

  it('begins also where nothing was signed yet that anybody knows of', async () => {
    const org = await scene.organization(2);
    const living = scene.process();
    await living.breaks.accept(org, 'Sealed on without deeds', scene.metadata(org));
    expect(await sign(org, living)).toMatch(/\/1\d{9}$/);
  });
});

describe('a crash', () => {
  it('between what is remembered and the log leaves what is signed again as it was', async () => {
    const org = await scene.organization(5);
    await sign(org);
    await scene.deeds(org, 3);
    await scene.killedAt('ckpt.kept', () => scene.process().make(org));
    expect(await readFile(fileOf(org), 'utf8')).toContain(' 9 ');
    await sign(org);
    expect(await scene.sizes(org)).toEqual([5, 9]);
    await scene.deeds(org, 1);
    await sign(org);
    expect(await scene.process().broken.all()).not.toContainEqual(expect.objectContaining({ org }));
  });

  it('of a signature that the log never had is no root that another may take the place of', async () => {
    const { org, backup } = await signedSinceBackup();
    await scene.deeds(org, 2);
    await scene.killedAt('ckpt.kept', () => scene.process().make(org));
    await scene.restore(org, backup);
    await scene.deeds(org, 9);
    await refused(org, 'other_root');
  });

  it('while a break is accepted leaves a number that nothing is signed under', async () => {
    const { org, backup } = await signedSinceBackup();
    await scene.restore(org, backup);
    await refused(org, 'shorter');
    await scene.killedAt('ckpt.begun', () => accept(org));
    await refused(org, 'shorter');
    await accept(org);
    expect(await sign(org)).toBe(`${originOf(org)}/2`);
  });
});

describe('processes that sign beside each other', () => {
  it('never find the ledger broken by what the others sign', async () => {
    const org = await scene.organization(2);
    for (let round = 0; round < 5; round += 1) {
      const others = Array.from({ length: 4 }, () => scene.process());
      const made = Promise.allSettled(others.map((other) => other.make(org)));
      await scene.deeds(org, 3);
      const late = Promise.allSettled([scene.process().make(org)]);
      for (const one of [...(await made), ...(await late)]) {
        // Whoever lost the tree to another asks again, as the next round does.
        if (one.status === 'rejected') expect(one.reason).toMatchObject({ name: 'StoreUnavailable' });
      }
    }
    await sign(org);
    expect(await scene.process().broken.of(org)).toBeNull();
  });

  it('of several machines remember each what it has seen, and none refuses what another signed', async () => {
    const org = await scene.organization(2);
    const elsewhere = await mkdtemp(join(tmpdir(), 'checkpoints-'));
    const other = scene.process(undefined, elsewhere);
    await sign(org);
    for (let round = 0; round < 3; round += 1) {
      await scene.deeds(org, 1);
      await sign(org, round % 2 === 0 ? other : scene.process());
    }
    await other.breaks.accept(org, 'Sealed on without deeds', scene.metadata(org));
    expect(await sign(org)).toMatch(/\/1$/);
    await rm(elsewhere, { recursive: true });
  });
});
