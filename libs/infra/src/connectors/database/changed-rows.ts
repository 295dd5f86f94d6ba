import { qualifiedName, type SaidTable, type TableCounts } from '#libs/domain/connectors';
import type { DatabaseConfig } from '#libs/domain/connectors/database';

import type { StatementAnswer } from './statement-run.js';
import type { StatementWrite } from './sql/index.js';

/** What the statistics counted, by table. */
export type CountedTables = ReadonlyMap<string, TableCounts>;

export const countedTables = ({ rows }: Pick<StatementAnswer, 'rows'>): CountedTables =>
  new Map(
    rows.map(([schema, table, inserted, updated, deleted]) => {
      const name = qualifiedName([schema ?? '', table ?? '']);
      const counts = { insert: Number(inserted), update: Number(updated), delete: Number(deleted), truncate: 0 };
      return [name, { table: name, ...counts }];
    }),
  );

/** What the statement has changed: all that was counted, without what stood there before. Sorted by table. */
export const changedBetween = (before: CountedTables, after: CountedTables): readonly TableCounts[] =>
  [...after.values()]
    .map((counts) => lessThan(counts, before.get(counts.table)))
    .filter((counts) => rowsIn(counts) > 0)
    .sort((one, other) => (one.table < other.table ? -1 : 1));

const lessThan = (counts: TableCounts, before: TableCounts | undefined): TableCounts => ({
  table: counts.table,
  insert: Math.max(0, counts.insert - (before?.insert ?? 0)),
  update: Math.max(0, counts.update - (before?.update ?? 0)),
  delete: Math.max(0, counts.delete - (before?.delete ?? 0)),
  truncate: counts.truncate,
});

const rowsIn = (counts: TableCounts): number => counts.insert + counts.update + counts.delete;

/** The counts with the tables that the statement truncates, whose rows nobody counts. */
export const withTruncated = (changed: readonly TableCounts[], said: readonly SaidTable[]): readonly TableCounts[] => {
  const truncated = said.filter(({ kinds }) => kinds.includes('truncate')).map(({ table }) => table);
  const others = changed.filter(({ table }) => !truncated.includes(table));
  const none = { insert: 0, update: 0, delete: 0, truncate: 1 };
  return [...others, ...truncated.map((table) => ({ table, ...none }))].sort((one, other) =>
    one.table < other.table ? -1 : 1,
  );
};

/** A table that a statement names, as the database knows it. */
interface NamedRoot {
  readonly table: string;
  /** Of pg_class: `r`, `p` for a partitioned table, `v` for a view. */
  readonly kind: string;
  readonly isPublished: boolean;
}

const rootsIn = ({ rows }: Pick<StatementAnswer, 'rows'>): ReadonlyMap<number, NamedRoot> =>
  new Map(
    rows.map(([place, schema, table, kind, isPublished]) => [
      Number(place),
      { table: qualifiedName([schema ?? '', table ?? '']), kind: kind ?? '', isPublished: isPublished === 'true' },
    ]),
  );

/** The tables that a statement names, by the names under which the change log holds them. */
export const saidTables = (
  writes: readonly StatementWrite[],
  answer: Pick<StatementAnswer, 'rows'>,
): readonly SaidTable[] => {
  const roots = rootsIn(answer);
  const byTable = new Map<string, SaidTable>();
  writes.forEach((write, place) => {
    const root = roots.get(place);
    const table = root?.table ?? write.table;
    // Two partitions that a statement names are one table of the log.
    const kinds = [...new Set([...(byTable.get(table)?.kinds ?? []), ...write.kinds])];
    const said = { table, kinds, is_partitioned: root?.kind === 'p' };
    byTable.set(table, root?.isPublished === false ? { ...said, is_unpublished: true } : said);
  });
  return [...byTable.values()].sort((one, other) => (one.table < other.table ? -1 : 1));
};

/** Why no statement may change what it names, as a sentence: what a view changes stands under other names. */
export const whyNoTable = (answer: Pick<StatementAnswer, 'rows'>): string | null => {
  const other = [...rootsIn(answer).values()].find(({ kind }) => kind !== 'r' && kind !== 'p');
  if (other === undefined) return null;
  return `${other.table} is no table, and a statement may change tables alone. Name the table that lies behind it. Nothing was applied.`;
};

/** Why changed rows are rolled back, as a sentence; null where they may stay. */
export const whyTooMuch = (
  changed: readonly TableCounts[],
  said: readonly SaidTable[],
  { max_rows_changed, side_effect_tables }: Pick<DatabaseConfig, 'max_rows_changed' | 'side_effect_tables'>,
): string | null => {
  const named = new Set([...said.map(({ table }) => table), ...side_effect_tables]);
  const other = changed.find(({ table }) => !named.has(table));
  if (other !== undefined) {
    return `The statement also changed rows of ${other.table}, which it does not name (by a trigger, a rule, a view or a cascade). It was rolled back, and nothing was applied. An admin can allow that table in side_effect_tables of the connector.`;
  }
  const rows = changed.reduce((sum, counts) => sum + rowsIn(counts), 0);
  if (rows <= max_rows_changed) return null;
  return `The statement changed ${rows} rows, and the connector allows ${max_rows_changed}. It was rolled back, and nothing was applied. Narrow it, or split it into several calls.`;
};
