import type { TableCounts } from './change-log.js';

/** How much of an old row a table puts into the change log (REPLICA IDENTITY). */
export type ReplicaIdentity = 'default' | 'nothing' | 'full' | 'index';

/** A value as the database wrote it into the log. `unchanged`: a long value that the statement left alone. */
export type LoggedValue =
  | {
      readonly text: string;
      /** Present where the text is not all of the value, or not exactly it: length and SHA-256 (hex) of what the log held. */
      readonly whole?: { readonly bytes: number; readonly sha256: string };
    }
  | { readonly null: true }
  | { readonly unchanged: true };

export interface LoggedColumn {
  readonly name: string;
  /** Name of the type, or its number (oid) in decimal digits where the log names none. */
  readonly type: string;
  readonly is_key: boolean;
}

/** One changed row. Values stand in the order of `columns`. */
export interface LoggedRow {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  readonly columns: readonly LoggedColumn[];
  /** Null where the log holds none of the old row. With the identity `default` or `index`: its key columns alone. */
  readonly old: readonly (LoggedValue | null)[] | null;
  readonly new: readonly (LoggedValue | null)[] | null;
}

export interface LoggedTable extends TableCounts {
  readonly replica_identity: ReplicaIdentity;
}

/** One committed transaction, as the change log of a database has it. Memory is bounded: counts of all, rows of the first. */
export interface LoggedTransaction {
  /** The low 32 bits of the transaction's id, as the log has them. */
  readonly xid: number;
  /** `X/Y` in hexadecimal digits. */
  readonly commit_lsn: string;
  readonly end_lsn: string;
  readonly committed_at: string;
  /** Sorted by table. */
  readonly tables: readonly LoggedTable[];
  /** The first `DIFF_ROWS_MAX` changed rows, in their order. */
  readonly rows: readonly LoggedRow[];
  /** Contents of messages with the prefix `service.action`, at most two are kept: one is right, two are one too many. */
  readonly marks: readonly string[];
}

/** How many changed rows are kept as evidence. */
export const DIFF_ROWS_MAX = 20;
