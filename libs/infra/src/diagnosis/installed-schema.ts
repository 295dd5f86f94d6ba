import type pg from 'pg';
import { inspectSchemas, type SchemaReport, startedSchemas } from '../schemas/index.js';
import { tablesOf } from './deployment-tables.js';

/** How a database stands to what this build installs. */
export interface SchemaState extends SchemaReport {
  /** Whether any version of the service has installed its tables: also where somebody has removed them since. */
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
  const report = await inspectSchemas(pool, startedSchemas(hasLog));
  // Version 0.1.0 noted no step: of it, a table tells.
  const table = hasLog ? 'event_store.events' : 'gate.payloads';
  return {
    ...report,
    isPrepared: report.noted.includes(hasLog ? 'event_store' : 'gate') || tables.has(table),
    missingTables: expected.filter((name) => !tables.has(name)),
  };
};
