import { canonicalize, type Digest, digestOf, type JsonObject, type JsonValue } from '#libs/crypto';
import type { LoggedColumn, LoggedRow, LoggedTransaction, LoggedValue } from '../../connectors/index.js';
import type { ActionId } from '../../kernel/index.js';

/** Of the whole document. Rows that would make it longer are cut, then left out. */
export const EVIDENCE_MAX_BYTES = 256 * 1024;
/** Tables beyond these are counted only. */
const TABLES_MAX = 250;
/** How many bytes of one value are kept: the largest of these with which the document is short enough. */
const VALUE_CAPS = [8_192, 1_024, 128, 0] as const;

export interface ChangeLogEvidence {
  /** RFC 8785 text. Its digest is the verdict's `evidence_digest`. */
  readonly body: string;
  readonly rowsKept: number;
}

/** What the change log shows of one call, as a document for auditors (docs/change-log-evidence.md, version 1). */
export const changeLogEvidence = (action: ActionId, attempt: number, logged: LoggedTransaction): ChangeLogEvidence => {
  const digests: Digests = new Map();
  const tries = [...VALUE_CAPS.map((cap) => ({ cap, kept: logged.rows.length })), ...fewerRows(logged.rows.length)];
  for (const { cap, kept } of tries) {
    const rows = logged.rows.slice(0, kept);
    if (leastBytes(rows, cap) > EVIDENCE_MAX_BYTES) continue;
    const body = documentOf({ action, attempt, logged, rows }, { cap, digests });
    if (Buffer.byteLength(body) <= EVIDENCE_MAX_BYTES) return { body, rowsKept: kept };
  }
  // Without any row the document is always short enough.
  throw new Error('the tables of a transaction are longer than its evidence may be');
};

/** Fewer bytes than the rows take, so that nothing far too long is ever written out. */
const leastBytes = (rows: readonly LoggedRow[], cap: number): number => {
  let bytes = 0;
  for (const { columns, old, new: after } of rows) {
    for (const values of [old, after]) {
      values?.forEach((value, index) => {
        if (value === null) return;
        const length = 'text' in value ? value.text.length : 0;
        bytes += (columns[index]?.name.length ?? 0) + (length <= SHORT ? length : Math.min(length, cap));
      });
    }
  }
  return bytes;
};

/** For tables with very many columns: half of the rows, a quarter and so on, down to none. */
const fewerRows = (rows: number): readonly { readonly cap: number; readonly kept: number }[] =>
  rows === 0 ? [] : [{ cap: 0, kept: Math.floor(rows / 2) }, ...fewerRows(Math.floor(rows / 2))];

/** Of values that are cut, so that each is hashed once, however often the document is tried. */
type Digests = Map<LoggedValue, Digest>;

interface Cut {
  readonly cap: number;
  readonly digests: Digests;
}

interface Kept {
  readonly action: ActionId;
  readonly attempt: number;
  readonly logged: LoggedTransaction;
  readonly rows: readonly LoggedRow[];
}

const documentOf = ({ action, attempt, logged, rows }: Kept, cut: Cut): string =>
  canonicalize({
    ...{ v: 1, kind: 'change_log', action, attempt },
    ...{ xid: logged.xid, commit_lsn: logged.commit_lsn, committed_at: logged.committed_at },
    tables: logged.tables.slice(0, TABLES_MAX).map((table) => ({ ...table })),
    tables_left_out: Math.max(0, logged.tables.length - TABLES_MAX),
    columns: columnsOf(rows),
    rows: rows.map((row) => rowOf(row, cut)),
    rows_total: logged.tables.reduce((sum, { insert, update, delete: deleted }) => sum + insert + update + deleted, 0),
    rows_kept: rows.length,
  });

/** Names and types by table, in the order of the table. */
const columnsOf = (rows: readonly LoggedRow[]): JsonObject => {
  const tables = new Map(rows.map(({ table, columns }) => [table, columns]));
  return fromEntries([...tables].map(([table, columns]) => [table, columns.map((column) => ({ ...column }))]));
};

const rowOf = ({ table, kind, columns, old, new: after }: LoggedRow, cut: Cut): JsonObject => {
  const [before, now] = [imageOf(columns, old, cut), imageOf(columns, after, cut)];
  const keys = columns.filter((column) => column.is_key).map(({ name }) => name);
  const image = now ?? before;
  const key =
    image === null ? [] : keys.flatMap((name) => (Object.hasOwn(image, name) ? [[name, image[name]] as const] : []));
  return { table, kind, ...(key.length === 0 ? {} : { key: fromEntries(key) }), old: before, new: now };
};

/** By column name; a column that the log does not hold is left out. */
const imageOf = (
  columns: readonly LoggedColumn[],
  values: readonly (LoggedValue | null)[] | null,
  cut: Cut,
): JsonObject | null => {
  if (values === null) return null;
  return fromEntries(
    columns.flatMap(({ name }, index) => {
      const value = values[index] ?? null;
      return value === null ? [] : [[name, valueOf(value, cut)] as const];
    }),
  );
};

/** A text is the value as the database wrote it, null is NULL, and an object says what is not here. */
const valueOf = (value: LoggedValue, { cap, digests }: Cut): JsonValue => {
  if ('null' in value) return null;
  if ('unchanged' in value) return { unchanged: true };
  const bytes = Buffer.from(value.text);
  const { whole } = value;
  if (whole === undefined && bytes.length <= Math.max(cap, SHORT)) return value.text;
  // A sequence that the cut has split is left out with it.
  const begins = new TextDecoder().decode(bytes.subarray(0, cap), { stream: true });
  // Of one that was cut when it was read, or is no UTF-8, the log's own bytes count.
  if (whole !== undefined) return { begins, bytes: whole.bytes, digest: `sha256:${whole.sha256}` };
  const digest = digests.get(value) ?? digestOf(bytes);
  digests.set(value, digest);
  return { begins, bytes: bytes.length, digest };
};

/** What is shorter than its digest is never cut. */
const SHORT = 64;

/** Without a prototype, because a column may be called `__proto__`. */
const fromEntries = (entries: Iterable<readonly [string, JsonValue | undefined]>): JsonObject => {
  const found = Object.create(null) as Record<string, JsonValue>;
  for (const [name, value] of entries) if (value !== undefined) found[name] = value;
  return found;
};
