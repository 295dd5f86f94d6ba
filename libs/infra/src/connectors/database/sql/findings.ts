import type { ChangeKind } from '#libs/domain/connectors';
import { refusal } from './refusal.js';
import { shown } from './sql-names.js';

/** An INSERT, UPDATE, DELETE, MERGE or TRUNCATE anywhere in the statement. */
export interface Modification {
  readonly kind: 'insert' | 'update' | 'delete' | 'merge' | 'truncate';
  /** Null where there can be none. */
  readonly hasWhere: boolean | null;
}

/** Columns that a function in FROM can have, beside those that the statement names: json_each, unnest, WITH ORDINALITY. */
const KNOWN_COLUMNS = ['key', 'value', 'lexeme', 'positions', 'weights', 'ordinality'];

/** What the walk through a statement has found. */
export class Findings {
  readonly tables = new Set<string>();
  readonly functions = new Set<string>();
  readonly parameters = new Set<number>();
  readonly modifications: Modification[] = [];
  readonly writes = new Map<string, Set<ChangeKind>>();
  locksRows = false;
  private readonly columns: (readonly [qualifier: string, column: string])[] = [];
  private readonly functionColumns = new Map<string, ReadonlySet<string>>();

  writesTo(table: string, kinds: readonly ChangeKind[]): void {
    this.tables.add(table);
    const known = this.writes.get(table) ?? new Set();
    for (const kind of kinds) known.add(kind);
    this.writes.set(table, known);
  }

  readsColumn(qualifier: string, column: string): void {
    this.columns.push([qualifier, column]);
  }

  /** Where one name stands for several functions, a column must be known of each. */
  callsInFrom(name: string, columns: readonly string[]): void {
    const known = new Set([...columns, ...KNOWN_COLUMNS]);
    const before = this.functionColumns.get(name);
    this.functionColumns.set(name, before === undefined ? known : new Set([...known].filter((one) => before.has(one))));
  }

  /**
   * `t.f` calls the function f where t has no such column: with the row of a table, which only its owner's functions take, but
   * with a plain value where t is a function in FROM. `SELECT t.pg_read_file FROM unnest(ARRAY['…']) t` reads a file.
   */
  checkColumns(): void {
    for (const [qualifier, column] of this.columns) {
      const known = this.functionColumns.get(qualifier);
      if (known === undefined || known.has(column)) continue;
      throw refusal(
        `read ${shown(column)} of a function that names no such column`,
        `Name the columns of ${shown(qualifier)} in FROM: f(…) AS t(a, b)`,
      );
    }
  }
}
