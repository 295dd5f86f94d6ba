import type { Schemas } from '../kernel/client.ts';

export type ChangeLogEvidence = Schemas['ChangeLogEvidence'];
export type LoggedRow = NonNullable<ChangeLogEvidence['rows']>[number];
type Image = Schemas['RowImage'];

/** A value as the change log holds it. `absent`: the log does not hold the column; `no_row`: there was no such row. */
export type Shown =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'null' | 'unchanged' | 'absent' | 'no_row' }
  | { readonly is: 'cut'; readonly begins: string; readonly bytes: number; readonly digest: string };

export interface Cell {
  readonly column: string;
  readonly isKey: boolean;
  readonly before: Shown;
  readonly after: Shown;
  /** Whether it was changed; null where the log does not hold what it was. */
  readonly isChanged: boolean | null;
}

/** More rows than the service keeps are never shown, whatever an answer holds. */
export const ROWS_MAX = 20;

const shownOf = (image: Image | null, column: string): Shown => {
  if (image === null || !Object.hasOwn(image, column)) return { is: 'absent' };
  const value = image[column] ?? null;
  if (value === null) return { is: 'null' };
  if (typeof value === 'string') return { is: 'text', text: value };
  if (value.unchanged === true) return { is: 'unchanged' };
  return { is: 'cut', begins: value.begins ?? '', bytes: value.bytes ?? 0, digest: value.digest ?? '' };
};

const isSame = (before: Shown, after: Shown): boolean | null => {
  if (after.is === 'unchanged') return true;
  if (before.is === 'absent' || after.is === 'absent' || before.is === 'unchanged') return null;
  if (before.is === 'text' && after.is === 'text') return before.text === after.text;
  if (before.is === 'cut' && after.is === 'cut') return before.digest === after.digest;
  return before.is === after.is;
};

/** The cells of a row, in the order of its table. Of an update, before and after; else the one side that there is. */
export const cellsOf = ({ table, kind, old, new: now }: LoggedRow, { columns }: ChangeLogEvidence): readonly Cell[] => {
  const known = Object.hasOwn(columns, table) ? (columns[table] ?? []) : [];
  const held = new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})]);
  const named = known.map(({ name }) => name);
  // A column that the list of columns does not know is shown all the same: nothing that was sealed is left out.
  const all = [...named.filter((name) => held.has(name)), ...[...held].filter((name) => !named.includes(name))];
  return all.map((column) => {
    const before: Shown = kind === 'insert' ? { is: 'no_row' } : shownOf(old, column);
    const after: Shown = kind === 'delete' ? { is: 'no_row' } : shownOf(now, column);
    const same = kind === 'update' ? isSame(before, after) : null;
    return {
      column,
      isKey: !isWholeKey(known) && known.some(({ name, is_key: isKey }) => isKey && name === column),
      before,
      after,
      isChanged: same === null ? null : !same,
    };
  });
};

/** Longer values would hide what was done to the row. */
const NAMED_CHARACTERS = 60;

/**
 * Which row it is: `id 7`, or all of a key of several columns; an empty text where the log names none. Under REPLICA
 * IDENTITY FULL each column is a key, and the first one has to do.
 */
export const keyOfRow = ({ table, key }: LoggedRow, { columns }: ChangeLogEvidence): string => {
  const known = Object.hasOwn(columns, table) ? (columns[table] ?? []) : [];
  const named = isWholeKey(known) ? known.slice(0, 1) : known.filter(({ is_key: isKey }) => isKey);
  return named
    .flatMap(({ name }) => {
      const value = key !== undefined && Object.hasOwn(key, name) ? key[name] : null;
      return typeof value === 'string' && value.length <= NAMED_CHARACTERS ? [`${name} ${value}`] : [];
    })
    .join(', ');
};

type Columns = ChangeLogEvidence['columns'][string];

/** Whether each column of several is said to be a key, which then tells nothing. */
const isWholeKey = (columns: Columns): boolean => columns.length > 1 && columns.every(({ is_key: isKey }) => isKey);

/** Tables whose old rows the log does not hold as a whole, though some of their rows were changed or deleted. */
export const withoutOldRows = ({ tables }: ChangeLogEvidence): readonly string[] =>
  tables
    .filter(({ update, delete: deleted, replica_identity: identity }) => update + deleted > 0 && identity !== 'full')
    .map(({ table }) => table);

/** How many of the changed rows are not shown. */
export const rowsLeftOut = ({ rows = [], rows_total: total }: ChangeLogEvidence): number =>
  Math.max(0, total - Math.min(rows.length, ROWS_MAX));

const KINDS = ['insert', 'update', 'delete', 'truncate'] as const;
const DONE = { insert: 'inserted', update: 'updated', delete: 'deleted' } as const;

/** What was done to each table: `2 rows updated, 1 row deleted`. */
export const doneTo = (counts: ChangeLogEvidence['tables'][number]): string =>
  KINDS.flatMap((kind) => {
    const count = counts[kind];
    if (count === 0) return [];
    if (kind === 'truncate') return ['truncated'];
    return [`${count.toLocaleString('en')} ${count === 1 ? 'row' : 'rows'} ${DONE[kind]}`];
  }).join(', ');
