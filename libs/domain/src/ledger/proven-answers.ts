import {
  consistencyProof,
  inclusionProof,
  isConsistent,
  isIncluded,
  isSameHash,
  type LedgerRange,
  ledgerRange,
  type NodeHashes,
  type RangeBounds,
  rootOfTree,
  rootThroughRange,
} from '#libs/crypto';

/** A tree of which the root was signed. */
export interface SignedRoot {
  readonly size: number;
  readonly root: Uint8Array;
}

/**
 * Asks stored hashes for a proof, and proves it before anybody gets it. Null where it does not hold. The root alone says
 * nothing of the rest: it is made of few hashes, and any other of them may be damaged.
 */
export type ProvenAnswer<Proof> = (hashes: NodeHashes, signed: SignedRoot) => Promise<Proof | null>;

/** That the leaf of this index, whichever it is, stands in the tree. */
export const provenInclusion =
  (index: number): ProvenAnswer<readonly Uint8Array[]> =>
  async (hashes, { size, root }) => {
    const [leafHash] = await hashes.read([{ level: 0, index }]);
    const proof = await inclusionProof(hashes, index, size);
    return leafHash !== undefined && isIncluded({ index, size, leafHash, root, proof }) ? proof : null;
  };

/** Both trees may be older than the signed one; each is proven to be the beginning of it first. */
export const provenConsistency =
  (from: number, to: number): ProvenAnswer<readonly Uint8Array[]> =>
  async (hashes, signed) => {
    const fromRoot = await provenRoot(hashes, from, signed);
    const toRoot = await provenRoot(hashes, to, signed);
    if (fromRoot === null || toRoot === null) return null;
    const proof = await consistencyProof(hashes, from, to);
    return isConsistent({ from, to, fromRoot, toRoot, proof }) ? proof : null;
  };

const provenRoot = async (
  hashes: NodeHashes,
  from: number,
  { size: to, root: toRoot }: SignedRoot,
): Promise<Uint8Array | null> => {
  const fromRoot = await rootOfTree(hashes, from);
  const proof = await consistencyProof(hashes, from, to);
  return isConsistent({ from, to, fromRoot, toRoot, proof }) ? fromRoot : null;
};

/** What binds a range of deeds to the tree: with the deeds between it leads to the root. */
export const provenRange =
  (bounds: RangeBounds): ProvenAnswer<LedgerRange> =>
  async (hashes, { root }) => {
    const range = await ledgerRange(hashes, bounds);
    return isSameHash(await rootThroughRange(hashes, range), root) ? range : null;
  };
