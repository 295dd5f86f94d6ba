import type { DataSource } from 'typeorm';
import { type ProjectionName, ProjectionDatabase, readModelSource, type RowType } from '#libs/infra/read-models';
import { createWholeDatabase } from './database.js';

export interface TestReadModels {
  readonly connectionString: string;
  readonly source: DataSource;
  readonly projections: ProjectionDatabase;
  /** Every row of the tables as JSON text, ordered by its text: two equal dumps are equal rows. */
  dump(...tables: readonly (string | RowType<object>)[]): Promise<readonly string[]>;
  /** As if these projections had never run, but for their rows: their next run folds the whole log. */
  forgetCheckpoints(...names: readonly ProjectionName[]): Promise<void>;
  drop(): Promise<void>;
}

/** A database of one spec's own with the read models' tables, empty. */
export const createTestReadModels = async (): Promise<TestReadModels> => {
  const { connectionString, drop } = await createWholeDatabase();
  const source = await openReadModels(connectionString);
  return {
    connectionString,
    source,
    projections: new ProjectionDatabase(source),
    dump: async (...tables) => {
      const names = tables.map((table) => (typeof table === 'string' ? table : source.getMetadata(table).tableName));
      const rows = await Promise.all(names.map((name) => dumpTable(source, name)));
      return rows.flat();
    },
    forgetCheckpoints: async (...names) => {
      await source.query('DELETE FROM read_models.projection_checkpoints WHERE name = ANY($1)', [names]);
    },
    drop: async () => {
      await source.destroy();
      await drop();
    },
  };
};

/** Another process's connections to the same tables. */
export const openReadModels = (connectionString: string): Promise<DataSource> =>
  readModelSource({
    connectionString,
    applicationName: 'ags tests',
    maxConnections: 4,
    statementTimeoutMs: 30_000,
    isDurable: false,
    // Tests end servers and sessions on purpose; what then fails is for the code under test to say.
    onError: () => undefined,
  }).initialize();

const dumpTable = async (source: DataSource, table: string): Promise<readonly string[]> => {
  const rows = await source.query<{ row: string }[]>(
    `SELECT row_to_json(t)::text COLLATE "C" AS row FROM read_models.${table} t ORDER BY 1`,
  );
  return rows.map(({ row }) => `${table} ${row}`);
};
