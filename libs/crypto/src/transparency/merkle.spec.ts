import fc from 'fast-check';
import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';

import { CompactRange, completeSubtrees, rootOf } from './compact-range.js';
import { EMPTY_ROOT, isSameHash, leafHash } from './merkle-hash.js';
import {
  consistencyProof,
  hashesInMemory,
  inclusionProof,
  isConsistent,
  isIncluded,
  MAX_PROOF_HASHES,
  rootOfTree,
} from './merkle-proof.js';

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const sha256 = (...parts: Uint8Array[]): Uint8Array => hash('sha256', Buffer.concat(parts), 'buffer');
const computed = new Map<string, Uint8Array>();

/** The tests' second implementation: RFC 6962 section 2.1, word for word, over the entries themselves. */
const rfc = {
  k: (n: number): number => 2 ** Math.floor(Math.log2(n - 1)),
  mth: (d: readonly Uint8Array[]): Uint8Array => {
    if (d.length === 0) return sha256();
    if (d.length === 1) return sha256(Uint8Array.of(0), d[0]!);
    const name = `${hexOf(d[0]!)} ${d.length}`;
    const k = rfc.k(d.length);
    const root = computed.get(name) ?? sha256(Uint8Array.of(1), rfc.mth(d.slice(0, k)), rfc.mth(d.slice(k)));
    computed.set(name, root);
    return root;
  },
  path: (m: number, d: readonly Uint8Array[]): Uint8Array[] => {
    if (d.length === 1) return [];
    const k = rfc.k(d.length);
    return m < k
      ? [...rfc.path(m, d.slice(0, k)), rfc.mth(d.slice(k))]
      : [...rfc.path(m - k, d.slice(k)), rfc.mth(d.slice(0, k))];
  },
  proof: (m: number, d: readonly Uint8Array[]): Uint8Array[] => rfc.subproof(m, d, true),
  subproof: (m: number, d: readonly Uint8Array[], b: boolean): Uint8Array[] => {
    if (m === d.length) return b ? [] : [rfc.mth(d)];
    const k = rfc.k(d.length);
    return m <= k
      ? [...rfc.subproof(m, d.slice(0, k), b), rfc.mth(d.slice(k))]
      : [...rfc.subproof(m - k, d.slice(k), false), rfc.mth(d.slice(0, k))];
  },
};

const entry = (index: number): Uint8Array => sha256(Buffer.from(`entry ${index}`));
const MAX_SIZE = 130;
const entries = Array.from({ length: MAX_SIZE }, (_, index) => entry(index));
const leaves = entries.map(leafHash);
const roots = Array.from({ length: MAX_SIZE + 1 }, (_, size) => rootOf(leaves.slice(0, size)));
const source = hashesInMemory(leaves);
const flipped = (bytes: Uint8Array, bit: number): Uint8Array => {
  const copy = Uint8Array.from(bytes);
  copy[Math.floor(bit / 8)]! ^= 1 << (bit % 8);
  return copy;
};

describe('Merkle Tree Hash (RFC 6962 section 2.1)', () => {
  // The tree of certificate-transparency's reference tests: eight entries, and the root of each prefix.
  const PUBLISHED_ENTRIES = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ];
  const PUBLISHED_ROOTS = [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];

  it('has the published roots', () => {
    const published = PUBLISHED_ENTRIES.map((hex) => leafHash(Buffer.from(hex, 'hex')));
    const own = PUBLISHED_ROOTS.map((_, size) => hexOf(rootOf(published.slice(0, size))));
    expect(own).toEqual(PUBLISHED_ROOTS);
  });

  it('is that of the text for sizes 0 to 130, however it is computed', async () => {
    for (let size = 0; size <= MAX_SIZE; size += 1) {
      const expected = hexOf(rfc.mth(entries.slice(0, size)));
      expect(hexOf(roots[size]!)).toBe(expected);
      expect(hexOf(await rootOfTree(source, size))).toBe(expected);
    }
    expect(hexOf(EMPTY_ROOT)).toBe(hexOf(rfc.mth([])));
  });

  it('does not take an entry for a node: two prefixes', () => {
    const [left = entry(0), right = entry(1)] = leaves;
    expect(hexOf(leafHash(Buffer.concat([left, right])))).not.toBe(hexOf(rootOf([left, right])));
  });
});

describe('compact ranges', () => {
  it('are the maximal complete subtrees of [first, last), from left to right (property)', () => {
    const bounds = fc.tuple(fc.maxSafeNat(), fc.maxSafeNat()).map((pair) => pair.sort((a, b) => a - b));
    fc.assert(
      fc.property(bounds, ([first = 0, last = 0]) => {
        let at = first;
        const nodes = completeSubtrees(first, last);
        for (const { level, index } of nodes) {
          const width = 2 ** level;
          expect(index * width).toBe(at);
          // Maximal: the parent begins earlier, or ends later.
          const parent = Math.floor(index / 2) * width * 2;
          expect(parent < first || parent + width * 2 > last).toBe(true);
          at += width;
        }
        expect(at).toBe(Math.max(first, last));
        expect(nodes.length).toBeLessThanOrEqual(2 * 53);
      }),
    );
  });

  it('a subtree is appended only where one can begin, and only as a hash', () => {
    const range = new CompactRange();
    range.append(entry(0));
    expect(() => range.append(entry(1), 1)).toThrow(RangeError);
    expect(() => range.append(new Uint8Array(31))).toThrow(RangeError);
    range.append(entry(1));
    range.append(entry(2), 1);
    expect(range.size).toBe(4);
    expect(() => range.append(entry(3), 3)).toThrow(RangeError);
    expect(() => new CompactRange().append(entry(0), 53)).toThrow(RangeError);
  });
});

describe('inclusion proofs (RFC 6962 section 2.1.1)', () => {
  it('are those of the text, for every leaf of sizes 1 to 70 and some of sizes to 130', async () => {
    for (let size = 1; size <= MAX_SIZE; size += 1) {
      const step = size <= 70 ? 1 : 7;
      for (let index = size % step; index < size; index += step) {
        const proof = await inclusionProof(source, index, size);
        expect(proof.map(hexOf)).toEqual(rfc.path(index, entries.slice(0, size)).map(hexOf));
      }
    }
  });

  it('every one verifies, and none with a bit flipped in any hash of it, in the leaf or in the root', async () => {
    let bit = 0;
    for (let size = 1; size <= MAX_SIZE; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const proof = await inclusionProof(source, index, size);
        const claim = { index, size, leafHash: leaves[index]!, root: roots[size]!, proof };
        if (!isIncluded(claim)) expect.fail(`${index} of ${size} is refused`);
        bit = (bit + 37) % 256;
        const at = bit % (proof.length + 2);
        const changed =
          at === proof.length
            ? { ...claim, root: flipped(claim.root, bit) }
            : at > proof.length
              ? { ...claim, leafHash: flipped(claim.leafHash, bit) }
              : { ...claim, proof: proof.with(at, flipped(proof[at]!, bit)) };
        if (isIncluded(changed)) expect.fail(`${index} of ${size} is accepted with a flipped bit`);
      }
    }
  });

  it('proves no other index, no other size of the path, no shorter and no longer proof', async () => {
    for (const size of [1, 2, 3, 7, 8, 65, 130]) {
      for (let index = 0; index < size; index += 1) {
        const proof = await inclusionProof(source, index, size);
        const claim = { index, size, leafHash: leaves[index]!, root: roots[size]!, proof };
        for (const other of [index - 1, index + 1, size, -1, 0.5, Number.NaN, 2 ** 53]) {
          expect(isIncluded({ ...claim, index: other })).toBe(false);
        }
        for (const other of [0, -1, index, 2 ** 53, 1.5]) expect(isIncluded({ ...claim, size: other })).toBe(false);
        expect(isIncluded({ ...claim, proof: proof.slice(1) })).toBe(proof.length === 0);
        expect(isIncluded({ ...claim, proof: proof.slice(0, -1) })).toBe(proof.length === 0);
        expect(isIncluded({ ...claim, proof: [...proof, entry(0)] })).toBe(false);
        expect(isIncluded({ ...claim, leafHash: new Uint8Array(0) })).toBe(false);
        if (proof.length > 0) expect(isIncluded({ ...claim, proof: proof.with(0, new Uint8Array(31)) })).toBe(false);
      }
    }
  });

  it('the path of a larger tree proves nothing in a smaller one', () => {
    const [left = entry(0), right = entry(1)] = leaves;
    const claim = { index: 1, size: 2, leafHash: right, root: roots[2]!, proof: [left] };
    expect(isIncluded(claim)).toBe(true);
    expect(isIncluded({ ...claim, index: 0, size: 1 })).toBe(false);
  });

  it('a proof of thousands of hashes costs nothing', () => {
    const proof = Array<Uint8Array>(100_000).fill(entry(0));
    const claim = { index: 0, size: Number.MAX_SAFE_INTEGER, leafHash: entry(0), root: entry(1), proof };
    expect(isIncluded(claim)).toBe(false);
    expect(isIncluded({ ...claim, proof: proof.slice(0, MAX_PROOF_HASHES) })).toBe(false);
  });

  it('of a leaf outside the tree there is none', () => {
    expect(() => inclusionProof(source, 5, 5)).toThrow(RangeError);
    expect(() => inclusionProof(source, -1, 5)).toThrow(RangeError);
  });
});

describe('consistency proofs (RFC 6962 section 2.1.2)', () => {
  it('are those of the text, for all sizes to 70 and some to 130', async () => {
    for (let to = 1; to <= MAX_SIZE; to += 1) {
      const step = to <= 70 ? 1 : 7;
      for (let from = 1 + (to % step); from <= to; from += step) {
        const proof = await consistencyProof(source, from, to);
        expect(proof.map(hexOf)).toEqual(rfc.proof(from, entries.slice(0, to)).map(hexOf));
      }
    }
  });

  it('every one verifies, and none with a bit flipped in any hash of it or in either root', async () => {
    let bit = 0;
    for (let to = 1; to <= MAX_SIZE; to += 1) {
      for (let from = 1; from <= to; from += 1) {
        const proof = await consistencyProof(source, from, to);
        const claim = { from, to, fromRoot: roots[from]!, toRoot: roots[to]!, proof };
        if (!isConsistent(claim)) expect.fail(`${from} to ${to} is refused`);
        bit = (bit + 37) % 256;
        const at = bit % (proof.length + 2);
        const changed =
          at === proof.length
            ? { ...claim, fromRoot: flipped(claim.fromRoot, bit) }
            : at > proof.length
              ? { ...claim, toRoot: flipped(claim.toRoot, bit) }
              : { ...claim, proof: proof.with(at, flipped(proof[at]!, bit)) };
        if (isConsistent(changed)) expect.fail(`${from} to ${to} is accepted with a flipped bit`);
      }
    }
  });

  it('the empty tree has one root, one proof, and is consistent with every tree', async () => {
    const claim = { from: 0, to: 5, fromRoot: EMPTY_ROOT, toRoot: roots[5]!, proof: [] };
    expect(await consistencyProof(source, 0, 5)).toEqual([]);
    expect(isConsistent(claim)).toBe(true);
    expect(isConsistent({ ...claim, proof: [entry(0)] })).toBe(false);
    expect(isConsistent({ ...claim, fromRoot: roots[1]! })).toBe(false);
    expect(isConsistent({ ...claim, to: 0, toRoot: EMPTY_ROOT })).toBe(true);
    expect(isConsistent({ ...claim, to: 0, toRoot: roots[1]! })).toBe(false);
  });

  it('the same size has an empty proof and the same root', () => {
    const claim = { from: 5, to: 5, fromRoot: roots[5]!, toRoot: roots[5]!, proof: [] };
    expect(isConsistent(claim)).toBe(true);
    expect(isConsistent({ ...claim, toRoot: roots[6]! })).toBe(false);
    expect(isConsistent({ ...claim, proof: [entry(0)] })).toBe(false);
  });

  it('proves no other sizes, no shorter and no longer proof', async () => {
    for (const [from, to] of [
      [1, 2],
      [3, 7],
      [4, 7],
      [6, 8],
      [7, 8],
      [64, 65],
      [65, 130],
      [127, 130],
    ] as const) {
      const proof = await consistencyProof(source, from, to);
      const claim = { from, to, fromRoot: roots[from]!, toRoot: roots[to]!, proof };
      expect(isConsistent({ ...claim, proof: proof.slice(1) })).toBe(false);
      expect(isConsistent({ ...claim, proof: proof.slice(0, -1) })).toBe(false);
      expect(isConsistent({ ...claim, proof: [...proof, entry(0)] })).toBe(false);
      expect(isConsistent({ ...claim, from: from - 1 })).toBe(false);
      expect(isConsistent({ ...claim, from: to + 1 })).toBe(false);
      expect(isConsistent({ ...claim, to: 2 ** 53 })).toBe(false);
      expect(isConsistent({ ...claim, from: -1 })).toBe(false);
    }
  });

  it('a forked tree of the same sizes is not consistent', async () => {
    const fork = leaves.with(40, entry(9_999));
    const proof = await consistencyProof(hashesInMemory(fork), 64, 130);
    const claim = { from: 64, to: 130, fromRoot: roots[64]!, toRoot: rootOf(fork), proof };
    expect(isConsistent(claim)).toBe(false);
    expect(isConsistent({ ...claim, fromRoot: rootOf(fork.slice(0, 64)) })).toBe(true);
  });

  it('a tree does not shrink', () => {
    const root = roots[1]!;
    expect(isConsistent({ from: 3, to: 1, fromRoot: root, toRoot: root, proof: [root] })).toBe(false);
    expect(() => consistencyProof(source, 6, 5)).toThrow(RangeError);
  });
});

describe('hashes', () => {
  it('of another length are not the same', () => {
    expect(isSameHash(EMPTY_ROOT, EMPTY_ROOT.subarray(0, 31))).toBe(false);
    expect(isSameHash(EMPTY_ROOT, Uint8Array.from(EMPTY_ROOT))).toBe(true);
  });
});
