/** What a statement of SQL does with a row. A truncated table counts once, however many rows it had. */
export const CHANGE_KINDS = ['insert', 'update', 'delete', 'truncate'] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

/** The root of a statement. */
export type SqlKind = 'select' | 'insert' | 'update' | 'delete' | 'merge' | 'truncate';

/** A table that a statement names to be changed. */
export interface SaidTable {
  /** `schema.table`; of a partitioned table its root. */
  readonly table: string;
  /** What the statement may do there: an INSERT with ON CONFLICT DO UPDATE inserts and updates. */
  readonly kinds: readonly ChangeKind[];
  /** Whether an UPDATE may move a row to another partition, which the change log holds as a delete and an insert. */
  readonly is_partitioned: boolean;
  /** Present where the publication does not hold the table, so that the change log says nothing of it. */
  readonly is_unpublished?: true;
}

/** What a statement may change, as its own text and the connector's config say. On record before it is sent. */
export interface StatementSaid {
  /** The transaction's id (xid8) in decimal digits: what the outcome is asked by, should the answer be lost. */
  readonly xid: string;
  readonly kind: SqlKind;
  /** Sorted by name. Empty for a statement that changes nothing. */
  readonly tables: readonly SaidTable[];
  /** Tables that the config lets triggers and cascades change, in any way. Sorted. */
  readonly side_effect_tables: readonly string[];
}

/** Changed rows of one table. */
export interface TableCounts extends Readonly<Record<ChangeKind, number>> {
  readonly table: string;
}

/** How a transaction ended that committed. */
export interface CommittedTransaction {
  readonly xid: string;
  /** Where the write-ahead log stood right after the commit, `X/Y` in hexadecimal digits: the commit lies before it. */
  readonly commit_lsn: string;
  /** What the command tag counted. Null where the answer was lost. */
  readonly rows: number | null;
  /** What the database's own statistics counted before COMMIT, sorted by table; null where the answer was lost. */
  readonly counts: readonly TableCounts[] | null;
}
