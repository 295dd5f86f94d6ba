import type { Digest } from './digest.js';
import { CompactRange } from './transparency/compact-range.js';
import { isSameHash, leafHash } from './transparency/merkle-hash.js';

/** What somebody holds of a ledger: a checkpoint, a range of deeds, or both. */
export interface LedgerSight {
  /** Of which organization. */
  readonly org: string;
  readonly checkpoint: { readonly size: number; readonly root: Uint8Array } | null;
  readonly deeds: SeenDeeds | null;
}

export interface SeenDeeds {
  readonly first: number;
  /** The body hash before `first`; null where the chain begins. */
  readonly prevHash: Digest | null;
  /** The body hashes from `first` on. */
  readonly hashes: readonly Digest[];
  /** The roots of the complete subtrees before `first`; null where they are not known. */
  readonly left: readonly { readonly level: number; readonly hash: Uint8Array }[] | null;
}

/**
 * What two sights of a ledger say about each other. `same`: they end at one deed of one chain; `continues`: one chain, and
 * one of them sees further; `agrees`: one chain up to the deed `to`, behind which both see further and nothing can be compared;
 * `fork`: two chains. `at` is the first deed in which they differ; `isFirst` is false where it may have been an earlier one,
 * which neither shows. `unknown`: nothing that both hold can be compared.
 */
export type LedgerComparison =
  | { readonly result: 'same' }
  | { readonly result: 'continues'; readonly further: 'one' | 'other' }
  | { readonly result: 'agrees'; readonly to: number }
  | { readonly result: 'fork'; readonly at: number; readonly isFirst: boolean }
  | { readonly result: 'unknown' };

/** Compares what two readers hold of one ledger. That each is intact is the caller's to know. */
export const compareLedgers = (one: LedgerSight, other: LedgerSight): LedgerComparison => {
  const found = [inDeeds(one, other), inTrees(one, other), inTrees(other, one), inCheckpoints(one, other)];
  const [fork] = found.filter((result) => result !== null && 'at' in result).sort((first, next) => first.at - next.at);
  if (fork !== undefined) return { result: 'fork', ...fork };
  const agreed = found.flatMap((result) => (result !== null && 'to' in result ? [result.to] : []));
  if (agreed.length === 0) return { result: 'unknown' };
  const to = Math.max(...agreed);
  const [end, otherEnd] = [endOf(one), endOf(other)];
  if (to < Math.min(end, otherEnd)) return { result: 'agrees', to };
  if (end === otherEnd) return { result: 'same' };
  return { result: 'continues', further: end > otherEnd ? 'one' : 'other' };
};

interface Fork {
  readonly at: number;
  readonly isFirst: boolean;
}

interface Agreement {
  /** Up to which deed. */
  readonly to: number;
}

/** Null: this way, nothing could be compared. */
type Finding = Fork | Agreement | null;

const lastOf = ({ first, hashes }: SeenDeeds): number => first + hashes.length - 1;

const endOf = ({ checkpoint, deeds }: LedgerSight): number =>
  Math.max(checkpoint?.size ?? 0, deeds === null ? 0 : lastOf(deeds));

/** The body hash of a deed, also of the one before the first that is held. */
const hashAt = (deeds: SeenDeeds, seq: number): Digest | null =>
  seq === deeds.first - 1 ? deeds.prevHash : (deeds.hashes[seq - deeds.first] ?? null);

const inDeeds = ({ deeds: one }: LedgerSight, { deeds: other }: LedgerSight): Finding => {
  if (one === null || other === null) return null;
  const from = Math.max(one.first, other.first) - 1;
  const to = Math.min(lastOf(one), lastOf(other));
  let compared = false;
  for (let seq = Math.max(from, 1); seq <= to; seq += 1) {
    const [mine, theirs] = [hashAt(one, seq), hashAt(other, seq)];
    if (mine === null || theirs === null) continue;
    // Each deed holds the hash of the one before: below the first that both hold, they may have differed already.
    if (mine !== theirs) return { at: seq, isFirst: compared || seq === 1 };
    compared = true;
  }
  return compared ? { to } : null;
};

/** Whether the deeds of one lead to the root of the other's checkpoint. */
const inTrees = ({ deeds }: LedgerSight, { checkpoint }: LedgerSight): Finding => {
  if (deeds === null || deeds.left === null || checkpoint === null) return null;
  const { first, hashes, left } = deeds;
  if (checkpoint.size < first - 1 || checkpoint.size > lastOf(deeds) || checkpoint.size === 0) return null;
  const tree = new CompactRange();
  for (const { level, hash } of left) tree.append(hash, level);
  for (const hash of hashes.slice(0, checkpoint.size - first + 1)) tree.append(leafHash(bytesOf(hash)));
  return isSameHash(tree.root(), checkpoint.root) ? { to: checkpoint.size } : forkAt(checkpoint.size);
};

/** Roots say that something differs, and not where. */
const forkAt = (size: number): Fork => ({ at: size, isFirst: size === 1 });

const bytesOf = (hash: Digest): Uint8Array => Buffer.from(hash.slice('sha256:'.length), 'hex');

const inCheckpoints = ({ checkpoint: one }: LedgerSight, { checkpoint: other }: LedgerSight): Finding => {
  if (one === null || other === null || one.size !== other.size) return null;
  return isSameHash(one.root, other.root) ? { to: one.size } : forkAt(one.size);
};
