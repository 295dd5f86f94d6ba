import type { SignatureCounts } from './approval-signatures.js';
import type { CheckpointFault, CheckpointWords } from './bundle-checkpoint.js';
import type { BundleFormatFault } from './bundle-format-error.js';
import type { ChainHead, PlaceFault } from './chain-walk.js';
import type { OwnFault, TrustFault } from './deed-judgement.js';
import type { Digest } from './digest.js';
import type { EvidenceCounts, EvidenceFault } from './payload-judge.js';

/** Faults of a line of a bundle, and of the place that its manifest gives it. */
export type LineFault = OwnFault | 'bad_line' | 'gap' | 'duplicate' | 'extra_deed' | 'outside_range' | 'head_mismatch';

/** Faults of the whole bundle. `key_conflict`: the reader's key set has another public key under a kid of keys.json. */
export type BundleFault = BundleFormatFault | 'wrong_org' | 'key_conflict';

/**
 * What is missing from a bundle in which nothing is wrong. `not_witnessed`: the reader asks for a checkpoint and there is
 * none, or for witnesses, and not enough of them have cosigned.
 */
export type Gap = 'truncated' | 'missing_deeds' | 'front_missing' | 'tail_missing' | 'no_deeds' | 'not_witnessed';

export type VerdictReason =
  LineFault | PlaceFault | TrustFault | BundleFault | CheckpointFault | EvidenceFault['reason'] | Gap;

/** Whose word something is: the bundle's own, which whoever gave it may have changed, or that of its reader. */
export type WordOf = 'bundle' | 'reader';

/** A key of the key set that counts, whether the user pinned it, and how many deeds of the checked chain it sealed. */
export interface KeyUse {
  readonly kid: string;
  readonly fingerprint: Digest;
  readonly pinned: boolean;
  readonly deeds: number;
}

/**
 * The answer about a bundle. `intact`: every deed from `first_seq` to `last_seq` is whole, sealed by a pinned key in its
 * window, and linked; nothing that the bundle promises is missing. `broken`: something is wrong. `incomplete`: nothing
 * is wrong in what is there, and something is missing.
 * `first_bad_seq` is the lowest seq that is not proven (for a missing deed, its seq), null when the fault is not of a
 * deed. `links_intact`: every hash and link of the whole range holds, whatever the keys are worth.
 * `deeds`, `first_seq`, `last_seq` and `head` tell how far hashes and links held; `prev_hash` is what the first deed
 * links to, which nothing in the bundle proves.
 * `keys_from`: whose windows and revocations the keys were judged by. No signature covers those of keys.json, and a
 * revocation after the export is not in it. `end_from`: whose word it is that the chain reaches `last_seq` and ends there:
 * the reader's when one of the heads given stands there or later; that of the witnesses when enough of those that the reader
 * asks have cosigned a checkpoint whose last deed it is, which is the end as of that checkpoint alone. `evidence`: what
 * payloads.ndjson gives, when all of it was judged; `approvals`: of how many decisions of people it proves that a device of
 * the person signed them; `intents`: of how many calls, that the agent's intent key signed them.
 */
export interface BundleVerdict extends CheckpointWords {
  readonly object: 'bundle_verdict';
  readonly result: 'intact' | 'broken' | 'incomplete';
  readonly reason: VerdictReason | null;
  readonly first_bad_seq: number | null;
  readonly links_intact: boolean;
  readonly org: string;
  readonly deeds: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly prev_hash: Digest | null;
  readonly head: ChainHead | null;
  readonly keys_from: WordOf;
  readonly end_from: WordOf | 'witnesses';
  readonly keys: readonly KeyUse[];
  readonly evidence: EvidenceCounts | null;
  readonly approvals: SignatureCounts | null;
  readonly intents: SignatureCounts | null;
}
