import type { Digest, OwnFault, PlaceFault, TrustFault } from '#libs/crypto';
import type { Timestamp } from '../kernel/index.js';

/** What can be wrong with a stored deed, judged by itself. */
export type DeedFault =
  /** The stored event is not one that the sealer writes. */
  | 'bad_record'
  /** The stored members beside the bytes differ from the bytes. */
  | 'record_mismatch'
  /** The signature of the COSE form does not verify. */
  | 'bad_cose_signature'
  /** The deed is not at the next place of the ledger. */
  | 'gap'
  | OwnFault;

/** Why the check is incomplete although no fault was found. */
export type Gap =
  /** The ledger ends before its own last revision. */
  | 'missing_deeds'
  /** The check reached its time limit. */
  | 'time_limit';

/** The answer of GET /v1/ledger/check. Its reasons have the same names as in the verifier's verdict about a bundle. */
export interface LedgerCheck {
  readonly object: 'ledger_check';
  readonly result: 'intact' | 'broken' | 'incomplete';
  readonly reason: DeedFault | PlaceFault | TrustFault | Gap | null;
  /** The lowest seq that is not proven; null if all are. */
  readonly first_bad_seq: number | null;
  /** Every hash, seal and link of the range verifies, whether or not the keys are valid. */
  readonly links_intact: boolean;
  /** The number of deeds whose hash, seal and link verify, counted from `first_seq`. */
  readonly checked: number;
  /** The range that was asked for, up to the head; null if it holds no deed. */
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  /**
   * The last deed of the ledger when the check began, with the hash of its bytes; null if there is none that can be
   * read.
   */
  readonly head: { readonly seq: number; readonly body_hash: Digest } | null;
  readonly checked_at: Timestamp;
}
