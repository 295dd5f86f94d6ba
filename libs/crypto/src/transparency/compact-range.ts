import { EMPTY_ROOT, isHash, nodeHash } from './merkle-hash.js';
import { isCount } from './strict-text.js';

/** A complete subtree: the leaves from `index * 2^level` on, `2^level` of them. Level 0 is a leaf. */
export interface TreeNode {
  readonly level: number;
  readonly index: number;
}

/**
 * The maximal complete subtrees that together are the leaves `[first, last)`, from left to right: at most 2 log2 n. A
 * tree of any size is known by those of `[0, size)`.
 */
export const completeSubtrees = (first: number, last: number): readonly TreeNode[] => {
  const nodes: TreeNode[] = [];
  let at = first;
  while (at < last) {
    let width = 1;
    let level = 0;
    // Sizes go beyond what bit operations hold, so halves and doubles are computed.
    while (at % (width * 2) === 0 && at + width * 2 <= last) {
      width *= 2;
      level += 1;
    }
    nodes.push({ level, index: at / width });
    at += width;
  }
  return nodes;
};

/**
 * The hash over the complete subtrees of a range that begins where one subtree of an RFC 6962 tree does: the last two are
 * joined first. There is at least one.
 */
export const joinSubtrees = (hashes: readonly Uint8Array[]): Uint8Array =>
  hashes.reduceRight((right, left) => nodeHash(left, right));

/**
 * A tree that grows at its right end, in O(log n) memory: the roots of the maximal complete subtrees of `[0, size)`.
 * Complete subtrees may be appended whole, which is how a range is put between what lies left and right of it.
 */
export class CompactRange {
  readonly #subtrees: { readonly level: number; readonly hash: Uint8Array }[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Appends `2^level` leaves by their root. Throws `RangeError` where no such subtree can begin, or for another length. */
  append(hash: Uint8Array, level = 0): void {
    const width = 2 ** level;
    if (!isHash(hash)) throw new RangeError('a hash has 32 bytes');
    if (this.#size % width !== 0 || !isCount(this.#size + width)) throw new RangeError('no subtree begins here');
    let joined = { level, hash };
    while (this.#subtrees.at(-1)?.level === joined.level) {
      const left = this.#subtrees.pop();
      if (left !== undefined) joined = { level: joined.level + 1, hash: nodeHash(left.hash, joined.hash) };
    }
    this.#subtrees.push(joined);
    this.#size += width;
  }

  /** The roots of the maximal complete subtrees, from left to right. */
  subtrees(): readonly Uint8Array[] {
    return this.#subtrees.map(({ hash }) => hash);
  }

  /** The Merkle Tree Hash of what was appended. */
  root(): Uint8Array {
    return this.#size === 0 ? EMPTY_ROOT : joinSubtrees(this.subtrees());
  }
}

/** The Merkle Tree Hash of a list of leaf hashes (RFC 6962 section 2.1). */
export const rootOf = (leafHashes: Iterable<Uint8Array>): Uint8Array => {
  const range = new CompactRange();
  for (const hash of leafHashes) range.append(hash);
  return range.root();
};
