import { describe, expect, it } from 'vitest';
import { type Digest, digestOf } from './digest.js';
import { compareLedgers, type LedgerSight, type SeenDeeds } from './ledger-comparison.js';
import { CompactRange, completeSubtrees, rootOf } from './transparency/compact-range.js';
import { leafHash } from './transparency/merkle-hash.js';

/** A chain: from `forked` on another one. */
const chain = (length: number, forked = Infinity): readonly Digest[] =>
  Array.from({ length }, (_, index) => digestOf(index + 1 < forked ? `deed ${index + 1}` : `other deed ${index + 1}`));

const leaf = (hash: Digest): Uint8Array => leafHash(Buffer.from(hash.slice('sha256:'.length), 'hex'));

const seen = (hashes: readonly Digest[], first: number, last: number): SeenDeeds => {
  const before = hashes.slice(0, first - 1).map(leaf);
  const tree = new CompactRange();
  for (const hash of before) tree.append(hash);
  const roots = tree.subtrees();
  return {
    first,
    prevHash: first === 1 ? null : (hashes[first - 2] ?? null),
    hashes: hashes.slice(first - 1, last),
    left: completeSubtrees(0, first - 1).map(({ level }, index) => ({ level, hash: roots[index] ?? new Uint8Array() })),
  };
};

const deeds = (hashes: readonly Digest[], first = 1, last = hashes.length): LedgerSight => ({
  org: 'org_1',
  checkpoint: null,
  deeds: seen(hashes, first, last),
});

const checkpoint = (hashes: readonly Digest[], size = hashes.length): LedgerSight => ({
  org: 'org_1',
  checkpoint: { size, root: rootOf(hashes.slice(0, size).map(leaf)) },
  deeds: null,
});

const without = (sight: LedgerSight): LedgerSight => ({
  ...sight,
  deeds: sight.deeds === null ? null : { ...sight.deeds, left: null },
});

describe('two sights of a ledger', () => {
  it.each([
    ['two bundles of the whole chain', deeds(chain(9)), deeds(chain(9)), { result: 'same' }],
    ['an older bundle and a newer one', deeds(chain(7)), deeds(chain(9)), { result: 'continues', further: 'other' }],
    ['two parts that touch', deeds(chain(9), 1, 4), deeds(chain(9), 5), { result: 'continues', further: 'other' }],
    ['two parts with a gap between them', deeds(chain(9), 1, 3), deeds(chain(9), 6), { result: 'unknown' }],
    ['a bundle and a checkpoint of its end', deeds(chain(9)), checkpoint(chain(9)), { result: 'same' }],
    [
      'a checkpoint within a bundle',
      checkpoint(chain(9), 5),
      deeds(chain(9)),
      { result: 'continues', further: 'other' },
    ],
    [
      'a part and a checkpoint within it',
      deeds(chain(9), 4),
      checkpoint(chain(9), 6),
      { result: 'continues', further: 'one' },
    ],
    [
      'a part and a checkpoint where it begins',
      deeds(chain(9), 6),
      checkpoint(chain(9), 5),
      { result: 'continues', further: 'one' },
    ],
    ['a part whose left is not known', without(deeds(chain(9), 4)), checkpoint(chain(9), 6), { result: 'unknown' }],
    ['a checkpoint beyond a bundle', deeds(chain(7)), checkpoint(chain(9)), { result: 'unknown' }],
    ['two checkpoints of one size', checkpoint(chain(9)), checkpoint(chain(9)), { result: 'same' }],
    ['two checkpoints of two sizes', checkpoint(chain(9)), checkpoint(chain(9), 4), { result: 'unknown' }],
    ['two chains from the beginning', deeds(chain(9)), deeds(chain(9, 1)), { result: 'fork', at: 1, isFirst: true }],
    ['a chain that was rewritten', deeds(chain(9)), deeds(chain(9, 5)), { result: 'fork', at: 5, isFirst: true }],
    [
      'two parts that link to two deeds',
      deeds(chain(9), 1, 4),
      deeds(chain(9, 3), 5),
      { result: 'fork', at: 4, isFirst: false },
    ],
    ['two ends of two chains', deeds(chain(9), 6), deeds(chain(9, 3), 6), { result: 'fork', at: 5, isFirst: false }],
    [
      'a bundle and another chain’s checkpoint',
      deeds(chain(9)),
      checkpoint(chain(9, 3), 6),
      { result: 'fork', at: 6, isFirst: false },
    ],
    [
      'two checkpoints of two chains',
      checkpoint(chain(9)),
      checkpoint(chain(9, 3)),
      { result: 'fork', at: 9, isFirst: false },
    ],
  ] as const)('%s', (_, one, other, comparison) => {
    expect(compareLedgers(one, other)).toEqual(comparison);
    const turned =
      comparison.result === 'continues'
        ? { ...comparison, further: comparison.further === 'one' ? 'other' : 'one' }
        : comparison;
    expect(compareLedgers(other, one)).toEqual(turned);
  });

  it('agree as far as both were compared, and no further', () => {
    const near = { ...deeds(chain(9)), checkpoint: checkpoint(chain(20)).checkpoint };
    const far = { ...deeds(chain(9)), checkpoint: checkpoint(chain(30, 15)).checkpoint };
    expect(compareLedgers(near, far)).toEqual({ result: 'agrees', to: 9 });
    expect(compareLedgers(near, deeds(chain(12)))).toEqual({ result: 'agrees', to: 9 });
  });

  it('a fork is told where it is seen first, whatever shows it', () => {
    const one = { ...deeds(chain(9)), checkpoint: checkpoint(chain(9)).checkpoint };
    const other = { ...deeds(chain(9, 4)), checkpoint: checkpoint(chain(9, 4)).checkpoint };
    expect(compareLedgers(one, other)).toEqual({ result: 'fork', at: 4, isFirst: true });
  });
});
