import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isConsistent, isIncluded, parseTlogProof, rootOfRange } from '#libs/crypto';
import type { OrgId } from '#libs/domain/kernel';
import { LedgerProofs } from '#libs/domain/ledger';
import { CheckpointScene, type CheckpointProcess, NO_OTHER_TREES } from '../support/checkpoint-scene.js';

const SIZE = 700;
const DAMAGED = `set hashes = set_byte(hashes, $2, get_byte(hashes, $2) # 1) where org = $1`;

let scene: CheckpointScene;
let org: OrgId;
let root: Uint8Array;
let leaves: readonly Uint8Array[];
beforeAll(async () => {
  scene = await CheckpointScene.start();
  org = await scene.organization(SIZE);
  root = (await scene.process().make(org))?.signed.checkpoint.root ?? new Uint8Array();
  leaves = (await scene.leavesOf(org)).slice(0, SIZE);
});
afterAll(() => scene.close());
afterEach(async () => {
  scene.logger.warnings.length = 0;
  scene.logger.errors.length = 0;
  await scene.endProcesses();
});

const proofsOf = ({ journal, trees, policies }: CheckpointProcess = scene.process()): LedgerProofs =>
  new LedgerProofs(journal, trees, NO_OTHER_TREES, policies);
/** One hash of a full tile, which the root is not made of. */
const damage = (leaf: number): Promise<unknown> =>
  scene.pool.query(`update ledger.tiles ${DAMAGED} and level = 0 and index = $3`, [
    org,
    (leaf % 256) * 32,
    Math.floor(leaf / 256),
  ]);
const wrongHashes = async (): Promise<number> => (await scene.process().trees.differences(org)).tiles.length;
const isProven = async (seq: number, proofs = proofsOf()): Promise<boolean> => {
  const { proof } = parseTlogProof(Buffer.from((await proofs.ofDeed(org, seq)) ?? ''));
  return isIncluded({ index: seq - 1, size: SIZE, leafHash: leaves[seq - 1] as Uint8Array, root, proof });
};

describe('a damaged full tile', () => {
  it.each([
    ['beside the leaf', 301],
    ['of the leaf itself', 300],
  ])('leads to no wrong proof of a deed: %s, and is made anew from the deeds', async (_, leaf) => {
    await damage(leaf);
    expect(await isProven(301)).toBe(true);
    expect(await wrongHashes()).toBe(0);
    expect(scene.logger.warnings).toHaveLength(1);
    expect(await isProven(301)).toBe(true);
    expect(scene.logger.warnings).toHaveLength(1);
  });

  it('leads to no wrong proof that a tree continues another', async () => {
    await damage(40);
    const hashes = await proofsOf().consistency(org, 41, 300);
    const [fromRoot, toRoot] = [await scene.rootOf(org, 41), await scene.rootOf(org, 300)];
    expect(isConsistent({ from: 41, to: 300, fromRoot, toRoot, proof: hashes })).toBe(true);
    expect(await wrongHashes()).toBe(0);
  });

  it.each([
    ['before it', 10],
    ['in it', 300],
    ['behind it', 500],
  ])('leads to no wrong range of deeds: %s', async (_, leaf) => {
    await damage(leaf);
    const covering = await proofsOf().covering(org, 12, 450);
    const range = covering?.range ?? { first: 1, last: 1, size: 0, left: [], right: [] };
    expect(rootOfRange(range, leaves.slice(11, 450))).toEqual(Buffer.from(root));
    expect(await wrongHashes()).toBe(0);
  });

  it('is made anew once, however many ask at once', async () => {
    await damage(300);
    const proofs = proofsOf();
    const asked = Array.from({ length: 8 }, (_, index) => isProven(290 + index * 3, proofs));
    expect(await Promise.all(asked)).toEqual(Array.from({ length: 8 }, () => true));
    expect(scene.logger.warnings).toHaveLength(1);
  });

  it('is told of again, and not made anew again, where it is damaged once more', async () => {
    const proofs = proofsOf();
    await damage(300);
    expect(await isProven(301, proofs)).toBe(true);
    await damage(300);
    await expect(proofs.ofDeed(org, 301)).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(await isProven(301)).toBe(true);
  });
});

describe('hashes that are lost', () => {
  it.each(['frontiers', 'tiles'])('are made again for whoever asks: %s', async (table) => {
    await scene.pool.query(`delete from ledger.${table} where org = $1`, [org]);
    expect(await isProven(301)).toBe(true);
    expect(await wrongHashes()).toBe(0);
  });
});

describe('a frontier', () => {
  it.each([
    ['with bytes too many', `hashes = hashes || '\\x00'::bytea`],
    ['with bytes too few', `hashes = substring(hashes from 2)`],
    ['of another size', `size = size + 1`],
  ])('%s is made anew for whoever asks', async (_, damaged) => {
    await scene.pool.query(`update ledger.frontiers set ${damaged} where org = $1`, [org]);
    expect(await isProven(301)).toBe(true);
    expect(await wrongHashes()).toBe(0);
    expect(scene.logger.warnings).toHaveLength(1);
  });
});

describe('a ledger whose deeds do not lead to what was signed', () => {
  it('gives no proof, and says so', async () => {
    const stored = await scene.pool.query<{ data: string }>(
      `select data from event_store.events where stream = $1 and revision = 5`,
      [`ledger-${org}`],
    );
    const put = (data: string): Promise<unknown> =>
      scene.pool.query(`update event_store.events set data = $2 where stream = $1 and revision = 5`, [
        `ledger-${org}`,
        data,
      ]);
    await damage(300);
    await put('{}');
    const proofs = proofsOf();
    await expect(proofs.ofDeed(org, 301)).rejects.toMatchObject({ code: 'ledger_inconsistent' });
    expect(scene.logger.errors).toHaveLength(1);
    await put(stored.rows[0]?.data ?? '');
    expect(await isProven(301)).toBe(true);
  });
});
