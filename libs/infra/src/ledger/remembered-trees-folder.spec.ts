import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EMPTY_ROOT } from '#libs/crypto';
import type { RememberedTree } from '#libs/domain/ledger';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { newOrg } from '../../../../test/support/ledger-fixtures.js';
import { RememberedTreesFolder, signedTreesPath } from './remembered-trees-folder.js';

let stateDir: string;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'signed-trees-'));
});
afterEach(() => rm(stateDir, { recursive: true }));

const org = newOrg();
const origin = `governance.example/ledger/${org}`;
const root = Buffer.from(EMPTY_ROOT).toString('base64');
const treeOf = (size: number, number = 0): RememberedTree => ({
  org,
  origin: number === 0 ? origin : `${origin}/${number}`,
  size,
  root,
  begun: number,
});
const opened = (): RememberedTreesFolder => new RememberedTreesFolder(signedTreesPath(stateDir), collectingLogger());

describe('the folder of signed trees', () => {
  it('is empty before anything was signed, and where there is none', async () => {
    expect(await opened().of(org)).toBeNull();
  });

  it('gives the last tree to the next process, private to its user, as text', async () => {
    await opened().remember(treeOf(7));
    expect(await opened().of(org)).toEqual(treeOf(7));
    const path = join(signedTreesPath(stateDir), org);
    expect(await readFile(path, 'utf8')).toBe(`${origin} 7 ${root} 0\n`);
    expect([(await stat(signedTreesPath(stateDir))).mode & 0o777, (await stat(path)).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
  });

  it('never goes back: the larger tree of an origin stays, and the higher number', async () => {
    const folder = opened();
    for (const tree of [treeOf(9), treeOf(4), { ...treeOf(5), begun: 3 }]) await folder.remember(tree);
    expect(await folder.of(org)).toEqual({ ...treeOf(9), begun: 3 });
    await folder.remember(treeOf(2, 3));
    await folder.remember(treeOf(20));
    expect(await folder.of(org)).toEqual(treeOf(2, 3));
  });

  it('keeps the last of many that are written at once, and leaves nothing beside it', async () => {
    const folder = opened();
    await Promise.all(Array.from({ length: 50 }, (_, size) => folder.remember(treeOf(size + 1))));
    expect(await folder.of(org)).toEqual(treeOf(50));
    expect(await readdir(signedTreesPath(stateDir))).toEqual([org]);
  });
});
