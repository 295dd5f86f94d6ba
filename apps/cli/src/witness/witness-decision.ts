import { EMPTY_ROOT, isConsistent, isSameHash } from '#libs/crypto';

/** What a witness remembers of a log: the size and the root that it cosigned last. */
export interface CosignedTree {
  readonly size: number;
  /** 32 bytes. */
  readonly root: Uint8Array;
}

/** What a log asks for: that its tree of this size and root continues the one of `oldSize`. */
export interface Growth extends CosignedTree {
  readonly oldSize: number;
  readonly proof: readonly Uint8Array[];
}

/** Why a tree is not the one that was cosigned, grown. Closed. All are answered with 422. */
export type Inconsistency = 'root_of_empty_tree' | 'proof_from_nothing' | 'root_of_same_size' | 'proof';

/** What is answered. Only after `cosign` may a key be used, and the tree must be on disk before anybody sees the signature. */
export type WitnessDecision =
  | { readonly kind: 'cosign' }
  | { readonly kind: 'old_above_size' }
  | { readonly kind: 'conflict'; readonly size: number }
  | { readonly kind: 'inconsistent'; readonly why: Inconsistency };

/**
 * What tlog-witness demands once the origin is known and its signature verified, in the order of its text. `latest` is what
 * was cosigned last for this origin, null for nothing: the answer holds only while nobody else changes that.
 */
export const decideCosignature = (asked: Growth, latest: CosignedTree | null): WitnessDecision => {
  if (asked.oldSize > asked.size) return { kind: 'old_above_size' };
  const { size, root } = latest ?? { size: 0, root: EMPTY_ROOT };
  if (asked.oldSize !== size) return { kind: 'conflict', size };
  const why = inconsistencyOf(asked, root);
  return why === null ? { kind: 'cosign' } : { kind: 'inconsistent', why };
};

/** `latestRoot` is the root of `oldSize`. */
const inconsistencyOf = ({ oldSize, size, root, proof }: Growth, latestRoot: Uint8Array): Inconsistency | null => {
  if (size === 0 && !isSameHash(root, EMPTY_ROOT)) return 'root_of_empty_tree';
  if (oldSize === 0 && proof.length > 0) return 'proof_from_nothing';
  if (oldSize === size && !isSameHash(root, latestRoot)) return 'root_of_same_size';
  const claim = { from: oldSize, to: size, fromRoot: latestRoot, toRoot: root, proof };
  return isConsistent(claim) ? null : 'proof';
};
