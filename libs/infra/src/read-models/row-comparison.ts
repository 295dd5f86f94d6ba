import type { EntityManager, EntityMetadata } from 'typeorm';
import { quoted } from './row-shape.js';
import { LIVE_SCHEMA } from './row-transaction.js';

/** Of one statement, and between two looks at whether to go on. */
const ROWS_AT_ONCE = 2_000;
/** Of them at most these are named. */
const NAMED_AT_ONCE = 100;

/** A row that is not what it must be. What stands in it is not told: it may be what an agent or a tool said. */
export interface RowDifference {
  readonly table: string;
  /** Values of the primary key, in its order. */
  readonly key: readonly string[];
  /** `missing`: it must be there; `unexpected`: it must not. */
  readonly kind: 'changed' | 'missing' | 'unexpected';
  /** Those that differ, in the order of the table; none but of one that was changed. */
  readonly columns: readonly string[];
}

export interface ComparedRows {
  /** That there must be. */
  readonly rows: number;
  readonly differenceCount: number;
  /** The first of them. */
  readonly differences: readonly RowDifference[];
}

type Key = readonly string[];

interface Found {
  readonly key: string[];
  readonly kind: RowDifference['kind'];
  readonly columns: string[];
  readonly count: string;
}

/**
 * Compares the live table of a row type with one of another schema, every column of every row, in the order of the key. The
 * server compares, and both tables are read by their primary keys: memory stays flat however long a row or a table is.
 */
export class RowComparison {
  private readonly table: string;
  private readonly keys: readonly string[];
  private readonly others: readonly string[];

  /**
   * @param schema where the rows are as they must be
   * @param kept rows with a lower key are no matter of it, in either table; null where all are compared
   */
  constructor(
    metadata: EntityMetadata,
    private readonly schema: string,
    private readonly kept: { readonly key: string; readonly from: bigint } | null = null,
  ) {
    this.table = metadata.tableName;
    this.keys = metadata.primaryColumns.map(({ databaseName }) => databaseName);
    this.others = metadata.columns.map(({ databaseName }) => databaseName).filter((name) => !this.keys.includes(name));
  }

  /** How many rows there must be. */
  async count(manager: EntityManager): Promise<number> {
    const [found] = await manager.query<{ count: string }[]>(
      `SELECT count(*) AS count FROM ${this.expected} AS r WHERE ${this.within(null, null)}`,
    );
    return Number(found?.count);
  }

  /** Within a transaction that sees one state of both tables. */
  async *run(manager: EntityManager): AsyncGenerator<ComparedRows> {
    for (let after: Key | null = null; ;) {
      const { rows, last } = await this.stretchAfter(manager, after);
      const found = await this.differencesBetween(manager, after, last);
      yield {
        rows,
        differenceCount: Number(found[0]?.count ?? 0),
        differences: found.map(({ key, kind, columns }) => ({ table: this.table, key, kind, columns })),
      };
      if (last === null) return;
      after = last;
    }
  }

  /** The next rows that there must be, and the key of the last of them; null where no more follow. */
  private async stretchAfter(
    manager: EntityManager,
    after: Key | null,
  ): Promise<{ readonly rows: number; readonly last: Key | null }> {
    const found = await manager.query<{ key: string[] }[]>(
      `SELECT ARRAY[${listOf(this.keys)}] AS key FROM ${this.expected} AS r WHERE ${this.within(after, null)}
        ORDER BY ${listOf(this.keys)} LIMIT ${ROWS_AT_ONCE}`,
      [...(after ?? [])],
    );
    return { rows: found.length, last: found.length < ROWS_AT_ONCE ? null : (found.at(-1)?.key ?? null) };
  }

  private differencesBetween(manager: EntityManager, after: Key | null, upTo: Key | null): Promise<Found[]> {
    const range = this.within(after, upTo);
    const key = this.keys.map((name) => `coalesce(live.${quoted(name)}, due.${quoted(name)})`).join(', ');
    const [first = ''] = this.keys.map(quoted);
    const changed = this.others.map(
      (name) => `CASE WHEN live.${quoted(name)} IS DISTINCT FROM due.${quoted(name)} THEN '${name}' END`,
    );
    return manager.query<Found[]>(
      `SELECT ARRAY[${key}] AS key, told.kind,
          CASE WHEN told.kind = 'changed' THEN told.columns ELSE '{}' END AS columns,
          count(*) OVER () AS count
        FROM (SELECT r.* FROM ${LIVE_SCHEMA}.${quoted(this.table)} AS r WHERE ${range}) AS live
        FULL JOIN (SELECT r.* FROM ${this.expected} AS r WHERE ${range}) AS due USING (${listOf(this.keys)})
        CROSS JOIN LATERAL (SELECT array_remove(ARRAY[${changed.join(', ')}]::text[], NULL) AS columns,
          CASE WHEN live.${first} IS NULL THEN 'missing' WHEN due.${first} IS NULL THEN 'unexpected' ELSE 'changed' END
            AS kind) AS told
       WHERE told.kind <> 'changed' OR told.columns <> '{}'
       ORDER BY 1 LIMIT ${NAMED_AT_ONCE}`,
      [...(after ?? []), ...(upTo ?? [])],
    );
  }

  /** Rows of a table `r`, by parameters in this order. */
  private within(after: Key | null, upTo: Key | null): string {
    const key = `(${this.keys.map((name) => `r.${quoted(name)}`).join(', ')})`;
    const bounds = [...(after === null ? [] : [['>', after.length]]), ...(upTo === null ? [] : [['<=', upTo.length]])];
    let number = 0;
    const conditions = (bounds as [operator: string, length: number][]).map(([operator, length]) => {
      const parameters = Array.from({ length }, () => `$${(number += 1)}`);
      return `${key} ${operator} (${parameters.join(', ')})`;
    });
    if (this.kept !== null) conditions.push(`r.${quoted(this.kept.key)} >= ${this.kept.from}`);
    return conditions.length === 0 ? 'true' : conditions.join(' AND ');
  }

  private get expected(): string {
    return `${this.schema}.${quoted(this.table)}`;
  }
}

const listOf = (names: readonly string[]): string => names.map(quoted).join(', ');
