import type { EntityManager, EntityMetadata, ObjectType } from 'typeorm';
import { storedText } from './columns.js';

/** Where the tables are that lists read. */
export const LIVE_SCHEMA = 'read_models';

/** A class of rows: `ActionRow` and its like. */
export type RowType<Row extends object> = ObjectType<Row>;

/**
 * The rows a projection writes, inside one transaction. A row appears at most once in an upsert: whoever folds merges the
 * events of one row before. Statements take all rows of a call as one parameter, whatever their number.
 */
export class RowTransaction {
  /** @param schema of tables of the same names and columns */
  constructor(
    private readonly manager: EntityManager,
    private readonly schema: string = LIVE_SCHEMA,
  ) {}

  /** The rows whose `property` is one of `values`; none that is missing is an error. */
  async select<Row extends object>(
    rowType: RowType<Row>,
    property: keyof Row & string,
    values: Iterable<string>,
  ): Promise<readonly Row[]> {
    const wanted = [...values];
    if (wanted.length === 0) return [];
    const metadata = this.metadataOf(rowType);
    const column = metadata.findColumnWithPropertyName(property)?.databaseName ?? property;
    const statement = `SELECT * FROM ${this.table(metadata)} WHERE ${quoted(column)} = ANY($1)`;
    const records = await this.manager.query<Record<string, unknown>[]>(statement, [wanted]);
    // By hand: the query builder's hydration takes longer than the query.
    return records.map((record) => this.rowOf<Row>(metadata, record));
  }

  /** Inserts each row, or replaces the one with its primary key. */
  async upsert<Row extends object>(rowType: RowType<Row>, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const metadata = this.metadataOf(rowType);
    const records = rows.map((row) => this.recordOf(metadata, row));
    await this.manager.query(this.upsertStatement(metadata), [JSON.stringify(records)]);
  }

  async remove<Row extends object>(
    rowType: RowType<Row>,
    property: keyof Row & string,
    values: readonly string[],
  ): Promise<void> {
    if (values.length === 0) return;
    const metadata = this.metadataOf(rowType);
    const column = metadata.findColumnWithPropertyName(property)?.databaseName ?? property;
    await this.manager.query(`DELETE FROM ${this.table(metadata)} WHERE ${quoted(column)} = ANY($1)`, [values]);
  }

  /** Removes all rows at once, however many. Readers of the table wait until the transaction ends. */
  async clear(rowType: RowType<object>): Promise<void> {
    await this.manager.query(`TRUNCATE ${this.table(this.metadataOf(rowType))}`);
  }

  private upsertStatement(metadata: EntityMetadata): string {
    const table = this.table(metadata);
    const known = upsertStatements.get(table);
    if (known !== undefined) return known;
    const columns = metadata.columns.map((column) => quoted(column.databaseName));
    const keys = metadata.primaryColumns.map((column) => quoted(column.databaseName));
    const changes = columns
      .filter((column) => !keys.includes(column))
      .map((column) => `${column} = excluded.${column}`);
    const list = columns.join(', ');
    const statement =
      `INSERT INTO ${table} (${list}) SELECT ${list} FROM json_populate_recordset(null::${table}, $1) ` +
      `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
    upsertStatements.set(table, statement);
    return statement;
  }

  private table(metadata: EntityMetadata): string {
    return `${quoted(this.schema)}.${quoted(metadata.tableName)}`;
  }

  private metadataOf(rowType: RowType<object>): EntityMetadata {
    return this.manager.dataSource.getMetadata(rowType);
  }

  private rowOf<Row extends object>(metadata: EntityMetadata, record: Record<string, unknown>): Row {
    const { driver } = this.manager.dataSource;
    const row: Record<string, unknown> = {};
    for (const column of metadata.columns) {
      row[column.propertyName] = driver.prepareHydratedValue(record[column.databaseName], column);
    }
    return row as Row;
  }

  /** One row by its column names. Text is stored as PostgreSQL can keep it. */
  private recordOf(metadata: EntityMetadata, row: object): Record<string, unknown> {
    const { driver } = this.manager.dataSource;
    const record: Record<string, unknown> = {};
    for (const column of metadata.columns) {
      const value: unknown = driver.preparePersistentValue(column.getEntityValue(row), column);
      record[column.databaseName] = typeof value === 'string' ? storedText(value) : value;
    }
    return record;
  }
}

/** By table. */
const upsertStatements = new Map<string, string>();

const quoted = (name: string): string => `"${name}"`;
