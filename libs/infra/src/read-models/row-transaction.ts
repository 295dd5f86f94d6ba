import type { EntityManager, EntityMetadata, ObjectType } from 'typeorm';
import { storedText } from './columns.js';

/** A class of rows: `ActionRow` and its like. */
export type RowType<Row extends object> = ObjectType<Row>;

/**
 * The rows a projection writes, inside one transaction. A row appears at most once in an upsert: whoever folds merges the
 * events of one row before. Statements take all rows of a call as one parameter, whatever their number.
 */
export class RowTransaction {
  constructor(private readonly manager: EntityManager) {}

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
    const statement = `SELECT * FROM ${tableOf(metadata)} WHERE ${quoted(column)} = ANY($1)`;
    const records = await this.manager.query<Record<string, unknown>[]>(statement, [wanted]);
    // By hand: the query builder's hydration takes longer than the query.
    return records.map((record) => this.rowOf<Row>(metadata, record));
  }

  /** Inserts each row, or replaces the one with its primary key. */
  async upsert<Row extends object>(rowType: RowType<Row>, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const metadata = this.metadataOf(rowType);
    const records = rows.map((row) => this.recordOf(metadata, row));
    await this.manager.query(upsertStatement(metadata), [JSON.stringify(records)]);
  }

  async remove<Row extends object>(
    rowType: RowType<Row>,
    property: keyof Row & string,
    values: readonly string[],
  ): Promise<void> {
    if (values.length === 0) return;
    await this.manager
      .createQueryBuilder()
      .delete()
      .from(rowType)
      .where(`${property} = ANY(:values)`, { values })
      .execute();
  }

  /** Removes all rows at once, however many. Readers of the table wait until the transaction ends. */
  async clear(rowType: RowType<object>): Promise<void> {
    await this.manager.query(`TRUNCATE ${tableOf(this.metadataOf(rowType))}`);
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

const statements = new WeakMap<EntityMetadata, string>();

const upsertStatement = (metadata: EntityMetadata): string => {
  const known = statements.get(metadata);
  if (known !== undefined) return known;
  const table = tableOf(metadata);
  const columns = metadata.columns.map((column) => quoted(column.databaseName));
  const keys = metadata.primaryColumns.map((column) => quoted(column.databaseName));
  const changes = columns.filter((column) => !keys.includes(column)).map((column) => `${column} = excluded.${column}`);
  const list = columns.join(', ');
  const statement =
    `INSERT INTO ${table} (${list}) SELECT ${list} FROM json_populate_recordset(null::${table}, $1) ` +
    `ON CONFLICT (${keys.join(', ')}) DO UPDATE SET ${changes.join(', ')}`;
  statements.set(metadata, statement);
  return statement;
};

const quoted = (name: string): string => `"${name}"`;

const tableOf = (metadata: EntityMetadata): string => metadata.tablePath.split('.').map(quoted).join('.');
