import type { OrgId, Timestamp } from '../kernel/index.js';

/** What was asked for, and which deeds that is: both ends of `seq` are inclusive, and null where there is none. */
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
 * Stream `export-<command id>`: this event and nothing after it. In the log before the first byte goes out. It does not say that
 * the export came to its end.
 */
export type ExportEvent = { type: 'ExportStarted'; data: ExportedRange & { at: Timestamp } };
