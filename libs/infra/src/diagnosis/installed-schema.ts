import type pg from 'pg';
import { inspectSchemas, type SchemaReport, startedSchemas } from '../schemas/index.js';
import { tablesOf } from './deployment-tables.js';

/** How a database stands to what this build installs. */
export interface SchemaState extends SchemaReport {
  /** Whether any version of the service has installed its tables. */
  readonly isPrepared: boolean;
  readonly missingTables: readonly string[];
}

/**
 * How the schemas of a database stand to this build's. Reads only.
 *
 * @param hasLog whether the log is in this database, too
 */
export const inspectSchema = async (pool: pg.Pool, hasLog: boolean): Promise<SchemaState> => {
  const expected = tablesOf(hasLog);
  const { rows } = await pool.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname || '.' || tablename = any ($1)`,
    [expected],
  );
  const tables = new Set(rows.map(({ name }) => name));
  return {
    ...(await inspectSchemas(pool, startedSchemas(hasLog))),
    isPrepared: tables.has(hasLog ? 'event_store.events' : 'gate.payloads'),
    missingTables: expected.filter((name) => !tables.has(name)),
  };
};
