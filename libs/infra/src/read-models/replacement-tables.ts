import { randomBytes } from 'node:crypto';
import type { DataSource, EntityManager, EntityMetadata } from 'typeorm';
import { JSON_TEXT } from './columns.js';
import { RowComparison, type ComparedRows } from './row-comparison.js';
import type { RowFloor } from './row-floor.js';
import { LIVE_SCHEMA, RowTransaction, type RowType } from './row-transaction.js';

const SCHEMA_PREFIX = 'read_models_rebuild_';

/**
 * New tables beside the live ones, of the same names, columns, constraints and indexes, until they take their place.
 * Nobody reads them before, so they are filled without their indexes, which are made at the end in one go. They lie in a
 * schema of their own: who begins drops what every other rebuild has made, so that of two at once, which no lock can
 * quite exclude, the earlier fails instead of mixing its rows with the other's.
 */
export class ReplacementTables {
  private readonly metadata: readonly EntityMetadata[];
  private readonly schema = `${SCHEMA_PREFIX}${randomBytes(6).toString('hex')}`;

  constructor(
    private readonly source: DataSource,
    rowTypes: readonly RowType<object>[],
  ) {
    this.metadata = rowTypes.map((rowType) => source.getMetadata(rowType));
  }

  /** Empty ones. */
  async create(): Promise<void> {
    await this.source.transaction(async (manager) => {
      await dropOthers(manager);
      await manager.query(`CREATE SCHEMA ${this.schema}`);
      for (const { tableName: name } of this.metadata) {
        await manager.query(
          `CREATE TABLE ${this.schema}.${name}
            (LIKE ${LIVE_SCHEMA}.${name} INCLUDING DEFAULTS INCLUDING CONSTRAINTS INCLUDING STORAGE)`,
        );
        for (const { constraint, definition } of await keysOf(manager, name)) {
          await manager.query(`ALTER TABLE ${this.schema}.${name} ADD CONSTRAINT "${constraint}" ${definition}`);
        }
      }
    });
  }

  /** Writes rows in a transaction of their own. */
  async write(work: (rows: RowTransaction) => Promise<void>): Promise<void> {
    await this.source.transaction((manager) => work(this.rowsIn(manager)));
  }

  /** Every index of the live tables, with its name: names are a schema's own, and move with it. */
  async makeIndexes(): Promise<void> {
    for (const { tableName } of this.metadata) {
      const definitions = await indexesOf(this.source.manager, tableName);
      // As many at once as the source has connections.
      await Promise.all(
        definitions.map((text) => this.source.query(text.replace(` ON ${LIVE_SCHEMA}.`, ` ON ${this.schema}.`))),
      );
    }
    await this.analyze();
  }

  /** Tells the planner of what was written. */
  async analyze(): Promise<void> {
    for (const { tableName, columns } of this.metadata) {
      // No query asks about JSON, which is by far the longest of a row.
      const asked = columns.filter((column) => column.transformer !== JSON_TEXT.transformer);
      const names = asked.map((column) => column.databaseName).join(', ');
      await this.source.query(`ANALYZE ${this.schema}.${tableName} (${names})`);
    }
  }

  /** In the caller's transaction, before it has seen anything: until it ends nobody empties or exchanges the live tables. */
  async holdLive(manager: EntityManager): Promise<void> {
    const live = this.metadata.map(({ tableName }) => `${LIVE_SCHEMA}.${tableName}`);
    await manager.query(`LOCK TABLE ${live.join(', ')} IN ACCESS SHARE MODE`);
  }

  /**
   * Every live row against these, within a transaction that sees one state of both.
   * @param kept what is asked of one of the tables: rows from here on; null where all are compared
   */
  async *compare(
    manager: EntityManager,
    kept: { readonly of: RowFloor; readonly from: bigint } | null = null,
  ): AsyncGenerator<ComparedRows & { readonly ofRows: number }> {
    const comparisons = this.metadata.map((metadata) => {
      const isKept = kept !== null && this.source.getMetadata(kept.of.rowType) === metadata;
      return new RowComparison(metadata, this.schema, isKept ? { key: kept.of.key, from: kept.from } : null);
    });
    let ofRows = 0;
    for (const comparison of comparisons) ofRows += await comparison.count(manager);
    for (const comparison of comparisons) {
      for await (const compared of comparison.run(manager)) yield { ...compared, ofRows };
    }
  }

  /** The rows, inside a transaction of the caller. */
  rowsIn(manager: EntityManager): RowTransaction {
    return new RowTransaction(manager, this.schema);
  }

  /** Within the caller's transaction: the live tables are gone and these stand in their place when it commits. */
  async takeOver(manager: EntityManager): Promise<void> {
    for (const { tableName: name } of this.metadata) {
      await manager.query(`DROP TABLE ${LIVE_SCHEMA}.${name}`);
      await manager.query(`ALTER TABLE ${this.schema}.${name} SET SCHEMA ${LIVE_SCHEMA}`);
    }
    await manager.query(`DROP SCHEMA ${this.schema}`);
  }

  /** Of a rebuild that was given up. */
  async drop(): Promise<void> {
    await this.source.query(`DROP SCHEMA IF EXISTS ${this.schema} CASCADE`);
  }
}

const dropOthers = async (manager: EntityManager): Promise<void> => {
  const found = await manager.query<{ schema: string }[]>(
    `SELECT nspname AS schema FROM pg_namespace WHERE starts_with(nspname, $1)`,
    [SCHEMA_PREFIX],
  );
  for (const { schema } of found) await manager.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
};

interface KeyDefinition {
  readonly constraint: string;
  readonly definition: string;
}

const keysOf = (manager: EntityManager, table: string): Promise<KeyDefinition[]> =>
  manager.query(
    `SELECT conname AS constraint, pg_get_constraintdef(oid) AS definition
      FROM pg_constraint WHERE conrelid = $1::regclass AND contype IN ('p', 'u')`,
    [`${LIVE_SCHEMA}.${table}`],
  );

const indexesOf = async (manager: EntityManager, table: string): Promise<readonly string[]> => {
  const found = await manager.query<{ definition: string }[]>(
    `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
      WHERE indrelid = $1::regclass
        AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND conrelid = indrelid)`,
    [`${LIVE_SCHEMA}.${table}`],
  );
  return found.map(({ definition }) => definition);
};
