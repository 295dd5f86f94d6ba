import { completeSubtrees, joinSubtrees, type TreeNode } from './compact-range.js';
import { EMPTY_ROOT, isHash, isSameHash, nodeHash } from './merkle-hash.js';
import { isCount } from './strict-text.js';

/** No proof in a tree of less than 2^63 leaves is longer (tlog-witness). */
export const MAX_PROOF_HASHES = 63;

/**
 * Where the hashes of a tree come from: tiles in a database, or memory. All nodes of one question are asked for at once,
 * and answered in their order. Each is a complete subtree of the tree, so its hash never changes. A source that does not
 * have one rejects; it never answers with less.
 */
export interface NodeHashes {
  read(nodes: readonly TreeNode[]): Promise<readonly Uint8Array[]>;
}

/** Leaves `[first, last)`, one subtree of the tree. */
interface Subtree {
  readonly first: number;
  readonly last: number;
}

/**
 * The Merkle audit path of a leaf (RFC 6962 section 2.1.1), from its sibling up to the root's child. Throws `RangeError`
 * for a leaf outside the tree.
 */
export const inclusionProof = (source: NodeHashes, index: number, size: number): Promise<readonly Uint8Array[]> => {
  if (!isCount(index) || !isCount(size) || index >= size) throw new RangeError('no such leaf');
  return hashesOf(
    source,
    siblings(
      size,
      ({ first }, half) => index < first + half,
      ({ first, last }) => last - first === 1,
    ).path,
  );
};

/**
 * The Merkle consistency proof between two sizes of a tree (RFC 6962 section 2.1.2), empty from 0 and for the same size.
 * Throws `RangeError` where the tree would shrink.
 */
export const consistencyProof = (source: NodeHashes, from: number, to: number): Promise<readonly Uint8Array[]> => {
  if (!isCount(from) || !isCount(to) || from > to) throw new RangeError('a tree only grows');
  if (from === 0) return Promise.resolve([]);
  const { path, end } = siblings(
    to,
    ({ first }, half) => from <= first + half,
    ({ last }) => last === from,
  );
  // A left-most end is the old tree itself, whose root whoever verifies knows.
  return hashesOf(source, end.first === 0 ? path : [end, ...path]);
};

/** Goes down from the root, left or right at each node, and gives the other sides from the last to the first. */
const siblings = (
  size: number,
  goesLeft: (at: Subtree, half: number) => boolean,
  isEnd: (at: Subtree) => boolean,
): { readonly path: readonly Subtree[]; readonly end: Subtree } => {
  const path: Subtree[] = [];
  let at: Subtree = { first: 0, last: size };
  while (!isEnd(at)) {
    const half = largestPowerBelow(at.last - at.first);
    const left = { first: at.first, last: at.first + half };
    const right = { first: left.last, last: at.last };
    const isLeft = goesLeft(at, half);
    path.unshift(isLeft ? right : left);
    at = isLeft ? left : right;
  }
  return { path, end: at };
};

/** The largest power of two smaller than n, for n of at least 2. */
const largestPowerBelow = (n: number): number => {
  let power = 1;
  while (power * 2 < n) power *= 2;
  return power;
};

const hashesOf = async (source: NodeHashes, subtrees: readonly Subtree[]): Promise<readonly Uint8Array[]> => {
  const parts = subtrees.map(({ first, last }) => completeSubtrees(first, last));
  const hashes = await source.read(parts.flat());
  let offset = 0;
  return parts.map(({ length }) => {
    const own = hashes.slice(offset, offset + length);
    offset += length;
    return joinSubtrees(own);
  });
};

/** The root of the tree of this size. */
export const rootOfTree = async (source: NodeHashes, size: number): Promise<Uint8Array> => {
  if (!isCount(size)) throw new RangeError('no such tree');
  return size === 0 ? EMPTY_ROOT : joinSubtrees(await source.read(completeSubtrees(0, size)));
};

/** All hashes of a tree in memory: for trees of the size of a bundle. */
export const hashesInMemory = (leafHashes: readonly Uint8Array[]): NodeHashes => {
  const levels = [leafHashes];
  for (let below = leafHashes; below.length > 1;) {
    below = parentsOf(below);
    levels.push(below);
  }
  return {
    read: async (nodes) =>
      nodes.map(({ level, index }) => {
        const hash = levels[level]?.[index];
        if (hash === undefined) throw new RangeError('no such node');
        return hash;
      }),
  };
};

/** Of complete subtrees only: a last node without a sibling has no parent here. */
const parentsOf = (hashes: readonly Uint8Array[]): readonly Uint8Array[] =>
  hashes.flatMap((right, index) => {
    const left = index % 2 === 1 ? hashes[index - 1] : undefined;
    return left === undefined ? [] : [nodeHash(left, right)];
  });

export interface InclusionClaim {
  readonly index: number;
  readonly size: number;
  readonly leafHash: Uint8Array;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/**
 * Whether the leaf stands at this index of the tree with this root (RFC 9162 section 2.1.3.2, over the same trees). Every
 * input may be hostile; one of another form is not proven.
 */
export const isIncluded = ({ index, size, leafHash, root, proof }: InclusionClaim): boolean => {
  if (!isCount(index) || !isCount(size) || index >= size || !areHashes(proof, leafHash, root)) return false;
  const path = new PathUp(index, size - 1);
  let hash = leafHash;
  for (const sibling of proof) {
    if (path.isAtRoot) return false;
    hash = path.up() === 'right' ? nodeHash(sibling, hash) : nodeHash(hash, sibling);
  }
  return path.isAtRoot && isSameHash(hash, root);
};

export interface ConsistencyClaim {
  readonly from: number;
  readonly to: number;
  readonly fromRoot: Uint8Array;
  readonly toRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}

/**
 * Whether the tree of size `to` continues the one of size `from` (RFC 9162 section 2.1.4.2). The empty tree has one root,
 * and an empty proof to every tree; a tree is consistent with itself by an empty proof and the same root.
 */
export const isConsistent = ({ from, to, fromRoot, toRoot, proof }: ConsistencyClaim): boolean => {
  if (!isCount(from) || !isCount(to) || from > to || !areHashes(proof, fromRoot, toRoot)) return false;
  if (to === 0 && !isSameHash(toRoot, EMPTY_ROOT)) return false;
  if (from === 0) return proof.length === 0 && isSameHash(fromRoot, EMPTY_ROOT);
  if (from === to) return proof.length === 0 && isSameHash(fromRoot, toRoot);
  const path = new PathUp(from - 1, to - 1);
  path.skipRightTurns();
  const isPowerOfTwo = largestPowerBelow(from * 2) === from;
  const [seed, ...siblings] = isPowerOfTwo ? [fromRoot, ...proof] : proof;
  if (seed === undefined || proof.length === 0) return false;
  let [old, grown] = [seed, seed];
  for (const sibling of siblings) {
    if (path.isAtRoot) return false;
    if (path.up() === 'right') [old, grown] = [nodeHash(sibling, old), nodeHash(sibling, grown)];
    else grown = nodeHash(grown, sibling);
  }
  return path.isAtRoot && isSameHash(old, fromRoot) && isSameHash(grown, toRoot);
};

const areHashes = (proof: readonly Uint8Array[], ...ends: readonly Uint8Array[]): boolean =>
  proof.length <= MAX_PROOF_HASHES && [...ends, ...proof].every(isHash);

/** The numbers `fn` and `sn` of RFC 9162: a node and the last node of its level, on the way to the root. */
class PathUp {
  #node: number;
  #last: number;

  constructor(node: number, last: number) {
    this.#node = node;
    this.#last = last;
  }

  get isAtRoot(): boolean {
    return this.#last === 0;
  }

  /** Goes to the next node that has a sibling, and says on which side of it this one is. */
  up(): 'left' | 'right' {
    const isRight = this.#node % 2 === 1;
    const side = isRight || this.#node === this.#last ? 'right' : 'left';
    // At the right edge of the tree, nodes without a sibling have the hash of their only child.
    if (side === 'right' && !isRight) while (this.#node % 2 === 0 && this.#node !== 0) this.#halve();
    this.#halve();
    return side;
  }

  /** A consistency proof begins at the largest subtree that ends where the old tree does. */
  skipRightTurns(): void {
    while (this.#node % 2 === 1) this.#halve();
  }

  #halve(): void {
    this.#node = Math.floor(this.#node / 2);
    this.#last = Math.floor(this.#last / 2);
  }
}
