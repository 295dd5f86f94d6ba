import type { Digest, OwnFault, PlaceFault, TrustFault } from '#libs/crypto';
import type { Timestamp } from '../kernel/index.js';

/** What is wrong with a stored deed by itself. */
export type DeedFault =
  /** The stored event is not one that the sealer writes. */
  | 'bad_record'
  /** The columns beside the bytes say something else than the bytes. */
  | 'record_mismatch'
  /** The signature of the COSE form does not hold. */
  | 'bad_cose_signature'
  /** The next deed is not at its place. */
  | 'gap'
  | OwnFault;

/** Why not everything is proven, although nothing is known to be wrong. */
export type Gap =
  /** The ledger ends before its own last revision. */
  | 'missing_deeds'
  /** The check's time was over. */
  | 'time_limit';

/** The answer of GET /v1/ledger/check. Reasons are named as in the verdict about a bundle. */
export interface LedgerCheck {
  readonly object: 'ledger_check';
  readonly result: 'intact' | 'broken' | 'incomplete';
  readonly reason: DeedFault | PlaceFault | TrustFault | Gap | null;
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
