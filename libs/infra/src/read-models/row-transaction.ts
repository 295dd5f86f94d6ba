import type pg from 'pg';
import type { EntityManager, EntityMetadata, ObjectType } from 'typeorm';
import { quoted, RowShape } from './row-shape.js';

/** Where the tables are that lists read. */
export const LIVE_SCHEMA = 'read_models';

/** A class of rows: `ActionRow` and its like. */
export type RowType<Row extends object> = ObjectType<Row>;

/** A row whose primary key is its id. */
export interface IdentifiedRow {
  readonly id: string;
}

/**
 * The rows a projection writes, inside one transaction. A row appears at most once in an upsert: whoever folds merges the
 * events of one row before. Statements take all rows of a call as parameters whose number does not depend on theirs.
 */
export class RowTransaction {
  /** @param schema of tables of the same names and columns */
  constructor(
    private readonly manager: EntityManager,
    private readonly schema: string = LIVE_SCHEMA,
  ) {}

  /** The rows of these ids; none that is missing is an error. */
  async select<Row extends IdentifiedRow>(rowType: RowType<Row>, ids: Iterable<string>): Promise<readonly Row[]> {
    const wanted = [...ids];
    if (wanted.length === 0) return [];
    const shape = this.shapeOf(rowType);
    const text = `${shape.selectStatement} WHERE id = ANY($1)`;
    // Without a name: a plan made while a table is small would go on reading all of it.
    const { rows } = await this.run<unknown[]>({ text, values: [wanted], rowMode: 'array' });
    return rows.map((record) => shape.rowOf(record) as Row);
  }

  /** Inserts each row, or replaces the one with its primary key. */
  async upsert<Row extends object>(rowType: RowType<Row>, rows: readonly Row[]): Promise<void> {
    if (rows.length === 0) return;
    const shape = this.shapeOf(rowType);
    await this.run({ name: `upsert ${shape.table}`, text: shape.upsertStatement, values: shape.valuesOf(rows) });
  }

  async remove(rowType: RowType<IdentifiedRow>, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    const table = this.table(this.metadataOf(rowType));
    await this.manager.query(`DELETE FROM ${table} WHERE id = ANY($1)`, [ids]);
  }

  /** Removes all rows at once, however many. Readers of the table wait until the transaction ends. */
  async clear(rowType: RowType<object>): Promise<void> {
    await this.manager.query(`TRUNCATE ${this.table(this.metadataOf(rowType))}`);
  }

  /** By the driver itself: TypeORM has no word for a statement that the server keeps, or for records without names. */
  private async run<Record extends pg.QueryResultRow>(statement: pg.QueryConfig & { rowMode?: 'array' }) {
    const client = (await this.manager.queryRunner?.connect()) as pg.ClientBase | undefined;
    if (!client) throw new Error('rows are written within a transaction');
    return client.query<Record>(statement);
  }

  private shapeOf(rowType: RowType<object>): RowShape {
    const metadata = this.metadataOf(rowType);
    const table = this.table(metadata);
    const known = shapes.get(metadata)?.get(table);
    if (known) return known;
    const shape = new RowShape(metadata, table);
    shapes.set(metadata, new Map(shapes.get(metadata)).set(table, shape));
    return shape;
  }

  private table(metadata: EntityMetadata): string {
    return `${quoted(this.schema)}.${quoted(metadata.tableName)}`;
  }

  private metadataOf(rowType: RowType<object>): EntityMetadata {
    return this.manager.dataSource.getMetadata(rowType);
  }
}

/** Of a source's row types, by table. */
const shapes = new WeakMap<EntityMetadata, Map<string, RowShape>>();
