import type { LoggedTransaction, LoggedTable, TableCounts } from '../../connectors/index.js';
import type { Timestamp } from '../../kernel/index.js';

/** What a change log shows of one transaction, without its rows: all that a verdict is made from. */
export interface SeenTransaction {
  /** The low 32 bits of the transaction's id. */
  readonly xid: number;
  /** `X/Y` in hexadecimal digits. */
  readonly commit_lsn: string;
  readonly committed_at: Timestamp;
  /** Sorted by table; at most {@link SEEN_TABLES_MAX}. */
  readonly tables: readonly LoggedTable[];
  /** Tables that were changed beyond those. Such a transaction is never verified. */
  readonly tables_left_out: number;
  /** How many marks it carries; one is right. */
  readonly marks: number;
  /** How many changed rows are kept as evidence. */
  readonly rows_kept: number;
}

/** What the tool's own postcondition says of the transaction. `none`: the tool has none. */
export type Postcondition = 'none' | 'met' | 'failed' | 'unanswered';

/** Keeps the event that holds them within what one append may hold. */
const SEEN_TABLES_MAX = 1_000;

export const seenOf = (logged: LoggedTransaction): SeenTransaction => ({
  xid: logged.xid,
  commit_lsn: logged.commit_lsn,
  committed_at: logged.committed_at,
  tables: logged.tables.slice(0, SEEN_TABLES_MAX),
  tables_left_out: Math.max(0, logged.tables.length - SEEN_TABLES_MAX),
  marks: logged.marks.length,
  rows_kept: logged.rows.length,
});

/** How many changes are counted there; a truncated table counts once. */
export const changesOf = ({ insert, update, delete: deleted, truncate }: Omit<TableCounts, 'table'>): number =>
  insert + update + deleted + truncate;

/** Whether the transaction has changed anything at all. */
export const hasChanges = ({ tables, tables_left_out }: SeenTransaction): boolean =>
  tables_left_out > 0 || tables.some((table) => changesOf(table) > 0);
