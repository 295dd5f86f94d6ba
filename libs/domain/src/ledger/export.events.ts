import type { OrgId, Timestamp } from '../kernel/index.js';

/**
 * The range that was asked for, and the deeds in it: both ends of `seq` are inclusive, and null if there is no deed.
 */
export interface ExportedRange {
  readonly org: OrgId;
  readonly kind: 'deeds';
  /** Inclusive, over `issued_at`; null: from the first deed. */
  readonly from: Timestamp | null;
  /** Exclusive; null: to the last deed. */
  readonly to: Timestamp | null;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
}

/**
 * The only event of a stream `export-<command id>`. It is in the log before the first byte goes out, and does not say
 * that the export was completed.
 */
export type ExportEvent = { type: 'ExportStarted'; data: ExportedRange & { at: Timestamp } };
