import { CompactRange, completeSubtrees } from './compact-range.js';
import { isHash, nodeHash } from './merkle-hash.js';
import type { NodeHashes } from './merkle-proof.js';
import { isCount } from './strict-text.js';

/** Which deeds of a ledger, by `seq`, which begins at 1 and has index `seq - 1` in the tree; and the size of the tree. */
export interface RangeBounds {
  readonly first: number;
  readonly last: number;
  readonly size: number;
}

/**
 * What binds a range of deeds to a tree: the roots of the maximal complete subtrees of `[0, first-1)` and `[last, size)`,
 * from left to right. It comes with a bundle and is not believed: it proves something only when the root that it leads to
 * is that of a signed checkpoint of this size.
 */
export interface LedgerRange extends RangeBounds {
  readonly left: readonly Uint8Array[];
  readonly right: readonly Uint8Array[];
}

/** Why a range leads to no root. Closed. `leaves`: there were more or fewer deeds than the bounds say. */
export type LedgerRangeReason = 'bounds' | 'left' | 'right' | 'hash' | 'leaves';

/** A range that is none. */
export class LedgerRangeError extends Error {
  override readonly name = 'LedgerRangeError';

  constructor(readonly reason: LedgerRangeReason) {
    super(`ledger range refused: ${reason}`);
  }
}

const judgeBounds = ({ first, last, size }: RangeBounds): void => {
  const isRange = [first, last, size].every(isCount) && first >= 1 && first <= last && last <= size;
  if (!isRange) throw new LedgerRangeError('bounds');
};

/** Throws `LedgerRangeError`; every input may be hostile. */
const judgeRange = (range: LedgerRange): void => {
  judgeBounds(range);
  const { first, last, size, left, right } = range;
  // The bounds alone say how many there are, and where each stands.
  if (left.length !== completeSubtrees(0, first - 1).length) throw new LedgerRangeError('left');
  if (right.length !== completeSubtrees(last, size).length) throw new LedgerRangeError('right');
  if (![...left, ...right].every(isHash)) throw new LedgerRangeError('hash');
};

/** The range of some deeds, for whoever reads them with it. Throws `LedgerRangeError` for bounds that are none. */
export const ledgerRange = async (source: NodeHashes, bounds: RangeBounds): Promise<LedgerRange> => {
  judgeBounds(bounds);
  const { first, last, size } = bounds;
  const left = completeSubtrees(0, first - 1);
  const hashes = await source.read([...left, ...completeSubtrees(last, size)]);
  return { first, last, size, left: hashes.slice(0, left.length), right: hashes.slice(left.length) };
};

/**
 * The root that a range leads to with its leaves, which the source has as complete subtrees: for whoever gives a range away.
 * Throws `LedgerRangeError`.
 */
export const rootThroughRange = async (source: NodeHashes, range: LedgerRange): Promise<Uint8Array> => {
  judgeRange(range);
  const { first, last, size } = range;
  const middle = completeSubtrees(first - 1, last);
  const hashes = [...range.left, ...(await source.read(middle)), ...range.right];
  const tree = new CompactRange();
  [...completeSubtrees(0, first - 1), ...middle, ...completeSubtrees(last, size)].forEach(({ level }, index) => {
    tree.append(hashes[index] as Uint8Array, level);
  });
  return tree.root();
};

/**
 * Folds a range while its deeds are read, in O(log n) memory: what lies left, then each leaf, then what lies right.
 * Throws `LedgerRangeError`; every input may be hostile.
 */
export class RangeFold {
  readonly #range: LedgerRange;
  readonly #tree = new CompactRange();

  constructor(range: LedgerRange) {
    judgeRange(range);
    this.#range = range;
    this.#append(range.left, 0, range.first - 1);
  }

  /** The next leaf, in the order of `seq`. */
  add(leafHash: Uint8Array): void {
    if (!isHash(leafHash)) throw new LedgerRangeError('hash');
    if (this.#tree.size >= this.#range.last) throw new LedgerRangeError('leaves');
    this.#tree.append(leafHash);
  }

  /** The root that the range leads to, once all of its leaves were added. Asked once. */
  root(): Uint8Array {
    const { last, size, right } = this.#range;
    if (this.#tree.size !== last) throw new LedgerRangeError('leaves');
    this.#append(right, last, size);
    return this.#tree.root();
  }

  #append(hashes: readonly Uint8Array[], first: number, last: number): void {
    completeSubtrees(first, last).forEach(({ level }, index) => {
      const hash = hashes[index];
      if (hash !== undefined) this.#tree.append(hash, level);
    });
  }
}

/**
 * The leaves of a range in O(log n) memory, for a reader who learns only later what stands left and right of them: the
 * roots of the maximal complete subtrees of `[first-1, last)`.
 */
export class RangeLeaves {
  readonly #subtrees: { readonly level: number; readonly index: number; readonly hash: Uint8Array }[] = [];
  #last: number;

  /** @param first the `seq` of the first leaf */
  constructor(private readonly first: number) {
    this.#last = first - 1;
  }

  /** The next leaf, in the order of `seq`. */
  add(leafHash: Uint8Array): void {
    if (!isHash(leafHash)) throw new LedgerRangeError('hash');
    let joined = { level: 0, index: this.#last, hash: leafHash };
    // Only a subtree that stands left in its pair can be joined: the range may begin anywhere.
    for (let left = this.#subtrees.at(-1); isLeftOf(left, joined); left = this.#subtrees.at(-1)) {
      this.#subtrees.pop();
      joined = { level: joined.level + 1, index: left.index / 2, hash: nodeHash(left.hash, joined.hash) };
    }
    this.#subtrees.push(joined);
    this.#last += 1;
  }

  /** The root that a range of these leaves leads to. Throws `LedgerRangeError`. */
  root(range: LedgerRange): Uint8Array {
    judgeRange(range);
    if (range.first !== this.first || range.last !== this.#last) throw new LedgerRangeError('leaves');
    const tree = new CompactRange();
    const append = (hashes: readonly Uint8Array[], nodes: readonly { readonly level: number }[]): void => {
      nodes.forEach(({ level }, index) => {
        const hash = hashes[index];
        if (hash !== undefined) tree.append(hash, level);
      });
    };
    append(range.left, completeSubtrees(0, range.first - 1));
    for (const { hash, level } of this.#subtrees) tree.append(hash, level);
    append(range.right, completeSubtrees(range.last, range.size));
    return tree.root();
  }
}

const isLeftOf = <Node extends { readonly level: number; readonly index: number }>(
  left: Node | undefined,
  right: Node,
): left is Node =>
  left !== undefined && left.level === right.level && left.index % 2 === 0 && left.index + 1 === right.index;

/** The root that a range and its leaf hashes lead to. Throws `LedgerRangeError`. */
export const rootOfRange = (range: LedgerRange, leafHashes: Iterable<Uint8Array>): Uint8Array => {
  const fold = new RangeFold(range);
  for (const hash of leafHashes) fold.add(hash);
  return fold.root();
};
