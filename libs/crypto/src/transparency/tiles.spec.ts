import fc from 'fast-check';
import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { rootOf } from './compact-range.js';
import { LedgerRangeError, ledgerRange, RangeFold, rootOfRange } from './ledger-range.js';
import { EMPTY_ROOT, leafHash } from './merkle-hash.js';
import {
  consistencyProof,
  hashesInMemory,
  inclusionProof,
  isConsistent,
  isIncluded,
  type NodeHashes,
  rootOfTree,
} from './merkle-proof.js';
import {
  EMPTY_FRONTIER,
  type Frontier,
  hashesInTiles,
  type Tile,
  TILE_BYTES,
  TileBuilder,
  TileError,
} from './tiles.js';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const leafAt = (index: number): Uint8Array => leafHash(hash('sha256', `entry ${index}`, 'buffer'));
const leaves = Array.from({ length: 3_000 }, (_, index) => leafAt(index));

/** A store of full tiles, as a database keeps them. */
class TileStore {
  readonly #tiles = new Map<string, Uint8Array>();
  reads = 0;

  keep(tiles: readonly Tile[]): void {
    for (const { level, index, hashes } of tiles) this.#tiles.set(`${level}/${index}`, hashes);
  }

  get names(): string[] {
    return [...this.#tiles.keys()];
  }

  source(frontier: Frontier): NodeHashes {
    return hashesInTiles(frontier, async (tiles) => {
      this.reads += 1;
      return tiles.map(({ level, index }) => this.#tiles.get(`${level}/${index}`) ?? new Uint8Array(0));
    });
  }
}

const built = (size: number): { builder: TileBuilder; store: TileStore } => {
  const builder = new TileBuilder();
  const store = new TileStore();
  for (const leaf of leaves.slice(0, size)) store.keep(builder.append(leaf));
  return { builder, store };
};

describe('tiles (tlog-tiles, Merkle Tree)', () => {
  it('of 70,000 leaves: 273 full ones on level 0, one on level 1; partial ones of 112, 17 and 1 hashes', () => {
    const builder = new TileBuilder();
    const tiles: Tile[] = [];
    const leaf = leafAt(0);
    for (let size = 0; size < 70_000; size += 1) tiles.push(...builder.append(leaf));
    const full = tiles.map(({ level }) => level);
    expect(full.filter((level) => level === 0)).toHaveLength(273);
    expect(full.filter((level) => level === 1)).toHaveLength(1);
    expect(full).toHaveLength(274);
    expect(tiles.filter(({ level }) => level === 0).map(({ index }) => index)).toEqual(
      Array.from({ length: 273 }, (_, index) => index),
    );
    expect(builder.frontier().hashes).toHaveLength((112 + 17 + 1) * 32);
  });

  it('of 256 leaves: a full one on level 0, and a partial one of width 1 on level 1', () => {
    const { builder, store } = built(256);
    expect(store.names).toEqual(['0/0']);
    const { size, hashes } = builder.frontier();
    expect([size, hashes.byteLength]).toEqual([256, 32]);
    expect(hexOf(hashes)).toBe(hexOf(rootOf(leaves.slice(0, 256))));
  });

  it('a full tile holds 256 hashes in their order', () => {
    const builder = new TileBuilder();
    const [tile] = leaves.slice(0, 256).flatMap((leaf) => builder.append(leaf));
    expect(tile?.hashes).toHaveLength(TILE_BYTES);
    expect(hexOf(tile!.hashes)).toBe(leaves.slice(0, 256).map(hexOf).join(''));
  });

  it('the builder has the root of every size, also when it goes on from a frontier', () => {
    let builder = new TileBuilder();
    expect(hexOf(builder.root())).toBe(hexOf(EMPTY_ROOT));
    for (let size = 1; size <= 1_100; size += 1) {
      builder.append(leaves[size - 1]!);
      if (size % 13 === 0) {
        expect(hexOf(builder.root())).toBe(hexOf(rootOf(leaves.slice(0, size))));
        builder = new TileBuilder(builder.frontier());
      }
      expect(builder.size).toBe(size);
    }
  });

  it('a builder that goes on from a frontier gives the tiles of one that never stopped', () => {
    const whole = built(1_500);
    const store = new TileStore();
    let frontier = EMPTY_FRONTIER;
    for (let from = 0; from < 1_500; from += 111) {
      const builder = new TileBuilder(frontier);
      for (const leaf of leaves.slice(from, Math.min(from + 111, 1_500))) store.keep(builder.append(leaf));
      frontier = builder.frontier();
    }
    expect(store.names).toEqual(whole.store.names);
    expect(frontier).toEqual(whole.builder.frontier());
  });

  it.each([
    { size: 1, hashes: new Uint8Array(0) },
    { size: 1, hashes: new Uint8Array(64) },
    { size: 0, hashes: new Uint8Array(32) },
    { size: 256, hashes: new Uint8Array(0) },
    { size: 5, hashes: new Uint8Array(159) },
    { size: -1, hashes: new Uint8Array(0) },
    { size: 2 ** 53, hashes: new Uint8Array(0) },
    { size: 1.5, hashes: new Uint8Array(32) },
  ])('a frontier that does not fit its size is refused: $size', (frontier) => {
    expect(() => new TileBuilder(frontier)).toThrow(TileError);
  });

  it('what is no hash is not appended', () => {
    expect(() => new TileBuilder().append(new Uint8Array(31))).toThrow(RangeError);
  });
});

describe('proofs from tiles', () => {
  const memory = hashesInMemory(leaves);
  const { builder, store } = built(3_000);
  const source = store.source(builder.frontier());

  it('are those from memory, in every tree up to the frontier (property)', async () => {
    const place = fc.tuple(
      fc.integer({ min: 1, max: 3_000 }),
      fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }),
    );
    await fc.assert(
      fc.asyncProperty(place, async ([size, part]) => {
        const index = Math.floor(size * part);
        const inclusion = await inclusionProof(source, index, size);
        expect(inclusion.map(hexOf)).toEqual((await inclusionProof(memory, index, size)).map(hexOf));
        const consistency = await consistencyProof(source, index, size);
        expect(consistency.map(hexOf)).toEqual((await consistencyProof(memory, index, size)).map(hexOf));
        const root = await rootOfTree(source, size);
        expect(hexOf(root)).toBe(hexOf(await rootOfTree(memory, size)));
        expect(isIncluded({ index, size, leafHash: leaves[index]!, root, proof: inclusion })).toBe(true);
        const fromRoot = await rootOfTree(source, index);
        expect(isConsistent({ from: index, to: size, fromRoot, toRoot: root, proof: consistency })).toBe(true);
      }),
    );
  });

  it('one question is one read of full tiles', async () => {
    store.reads = 0;
    await inclusionProof(source, 17, 3_000);
    expect(store.reads).toBe(1);
  });

  it('a tile that is missing or short is an error, and so is a node beyond the tree', async () => {
    const refusal = (promise: Promise<unknown>): Promise<string> =>
      promise.then(
        () => 'accepted',
        (error: unknown) => (error instanceof TileError ? error.reason : 'another error'),
      );
    const empty = new TileStore().source(builder.frontier());
    expect(await refusal(inclusionProof(empty, 17, 3_000))).toBe('tile');
    expect(await refusal(inclusionProof(source, 17, 3_001))).toBe('node');
    expect(await refusal(rootOfTree(source, 4_096))).toBe('node');
    expect(await refusal(source.read([{ level: 0, index: 3_000 }]))).toBe('node');
    expect(await refusal(source.read([{ level: 0, index: 3_072 }]))).toBe('node');
    expect(await refusal(source.read([{ level: 60, index: 0 }]))).toBe('node');
  });
});

describe('a range of a ledger', () => {
  const source = hashesInMemory(leaves);
  const roots = new Map<number, Uint8Array>();
  const bounds = fc
    .tuple(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 1, max: 3_000 }))
    .map((three) => three.sort((a, b) => a - b))
    .map(([first = 1, last = 1, size = 1]) => ({ first, last, size }));
  const rootFor = (size: number): Uint8Array => {
    const root = roots.get(size) ?? rootOf(leaves.slice(0, size));
    roots.set(size, root);
    return root;
  };
  const refusal = (action: () => unknown): string => {
    try {
      action();
    } catch (error) {
      if (error instanceof LedgerRangeError) return error.reason;
      throw error;
    }
    return 'accepted';
  };

  it('with its leaves leads to the root of the tree, by at most 2 log2 n hashes (property)', async () => {
    await fc.assert(
      fc.asyncProperty(bounds, async (range) => {
        const proof = await ledgerRange(source, range);
        const own = leaves.slice(range.first - 1, range.last);
        expect(hexOf(rootOfRange(proof, own))).toBe(hexOf(rootFor(range.size)));
        expect(proof.left.length + proof.right.length).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(range.size + 1)));
      }),
      { numRuns: 60 },
    );
  });

  it('leads nowhere else when a leaf is swapped, missing, too much, or a hash is changed (property)', async () => {
    await fc.assert(
      fc.asyncProperty(bounds, fc.nat(), async (range, seed) => {
        const proof = await ledgerRange(source, range);
        const own = leaves.slice(range.first - 1, range.last);
        const root = hexOf(rootFor(range.size));
        expect(refusal(() => rootOfRange(proof, own.slice(1)))).toBe('leaves');
        expect(refusal(() => rootOfRange(proof, [...own, leafAt(0)]))).toBe('leaves');
        const at = seed % own.length;
        expect(hexOf(rootOfRange(proof, own.with(at, leafAt(9_999))))).not.toBe(root);
        if (own.length > 1) {
          const other = (at + 1) % own.length;
          const swapped = own.with(at, own[other]!).with(other, own[at]!);
          expect(hexOf(rootOfRange(proof, swapped))).not.toBe(root);
        }
        for (const side of ['left', 'right'] as const) {
          if (proof[side].length === 0) continue;
          const changed = { ...proof, [side]: proof[side].with(0, leafAt(9_999)) };
          expect(hexOf(rootOfRange(changed, own))).not.toBe(root);
          const short = { ...proof, [side]: proof[side].slice(1) };
          expect(refusal(() => rootOfRange(short, own))).toBe(side);
        }
      }),
      { numRuns: 20 },
    );
  });

  it.each([
    { first: 0, last: 1, size: 1 },
    { first: 2, last: 1, size: 2 },
    { first: 1, last: 3, size: 2 },
    { first: 1, last: 1, size: 2 ** 53 },
    { first: 1.5, last: 2, size: 2 },
    { first: Number.NaN, last: 2, size: 2 },
  ])('bounds that are none: $first to $last of $size', async (range) => {
    expect(refusal(() => new RangeFold({ ...range, left: [], right: [] }))).toBe('bounds');
    await expect(ledgerRange(source, range)).rejects.toThrow(LedgerRangeError);
  });

  it('a leaf too many is refused when it comes', () => {
    const fold = new RangeFold({ first: 1, last: 1, size: 2, left: [], right: [leaves[1]!] });
    fold.add(leaves[0]!);
    expect(refusal(() => fold.add(leaves[1]!))).toBe('leaves');
    expect(hexOf(fold.root())).toBe(hexOf(rootFor(2)));
  });

  it('what is no hash is refused before it is folded', () => {
    const range = { first: 2, last: 2, size: 2, left: [leaves[0]!], right: [] };
    expect(hexOf(rootOfRange(range, [leaves[1]!]))).toBe(hexOf(rootOf(leaves.slice(0, 2))));
    expect(refusal(() => rootOfRange({ ...range, left: [new Uint8Array(33)] }, [leaves[1]!]))).toBe('hash');
    expect(refusal(() => rootOfRange(range, [new Uint8Array(31)]))).toBe('hash');
    expect(refusal(() => rootOfRange({ ...range, right: [leaves[0]!] }, [leaves[1]!]))).toBe('right');
  });
});
