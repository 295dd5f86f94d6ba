import type { Digest, KeyFault, LinkFault } from '#libs/crypto';
import type { Timestamp } from '#libs/domain/kernel';

/** The signature of the deed, or that of its COSE form, which no bundle holds and the service hands out. */
export type SealFault = 'bad_signature' | 'bad_cose_signature';

/** What is wrong with a deed or with its place: nothing after it can be judged. */
export type DeedFault =
  /** The stored event is not one that the sealer writes. */
  | 'bad_record'
  /** The columns beside the bytes say something else than the bytes. */
  | 'record_mismatch'
  | 'not_canonical'
  | 'schema'
  | 'wrong_seq'
  | 'wrong_kid'
  | 'body_hash_mismatch'
  | SealFault
  | LinkFault;

/** What is wrong with the key behind a deed: hashes and links are judged on. */
export type TrustFault = 'unknown_key' | KeyFault;

/** Why nothing is known to be wrong and yet not everything is proven. */
export type Gap =
  /** The ledger ends before its own last revision. */
  | 'missing_deeds'
  /** The check's time was over. */
  | 'time_limit';

/** The answer of GET /v1/ledger/check. Reasons are named as in the verdict about a bundle. */
export interface LedgerCheck {
  readonly object: 'ledger_check';
  readonly result: 'intact' | 'broken' | 'incomplete';
  readonly reason: DeedFault | TrustFault | Gap | null;
  /** The lowest seq that is not proven; null when all are. */
  readonly first_bad_seq: number | null;
  /** Every hash, seal and link of the range holds, whatever the keys are worth. */
  readonly links_intact: boolean;
  /** Deeds whose hash, seal and link hold, counted from `first_seq`. */
  readonly checked: number;
  /** The range that was asked for, up to the head; null when it holds no deed. */
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  /** The last deed of the ledger when the check began, its hash taken from its bytes; null when there is none to read. */
  readonly head: { readonly seq: number; readonly body_hash: Digest } | null;
  readonly checked_at: Timestamp;
}
