import type pg from 'pg';
import { EVENT_STORE_VERSION } from '../event-store/index.js';
import { READ_MODEL_MIGRATIONS } from '../read-models/index.js';
import { tablesOf } from './deployment-tables.js';

/** Of versions that are installed and those that this build installs. */
export interface SchemaState {
  /** 0 where there is no event store; null where the log lies elsewhere. */
  readonly eventStore: { readonly installed: number; readonly known: number } | null;
  /** Migrations of the read models that were not run yet, and those run that this build does not know. */
  readonly readModels: { readonly missing: readonly string[]; readonly unknown: readonly string[] };
  readonly missingTables: readonly string[];
}

/**
 * How the schemas of a database stand to this build's. Reads only.
 *
 * @param hasLog whether the log is in this database, too
 */
export const inspectSchema = async (pool: pg.Pool, hasLog: boolean): Promise<SchemaState> => {
  const expected = tablesOf(hasLog);
  const present = await pool.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables where schemaname || '.' || tablename = any ($1)`,
    [expected],
  );
  const tables = new Set(present.rows.map(({ name }) => name));
  const versions = tables.has('event_store.event_store_schema')
    ? (await pool.query<{ version: number }>('select version from event_store.event_store_schema')).rows
    : [];
  const migrations = tables.has('read_models.migrations')
    ? (await pool.query<{ name: string }>('select name from read_models.migrations order by id')).rows
    : [];
  const run = migrations.map(({ name }) => name);
  return {
    eventStore: hasLog
      ? { installed: Math.max(0, ...versions.map(({ version }) => version)), known: EVENT_STORE_VERSION }
      : null,
    readModels: {
      missing: READ_MODEL_MIGRATIONS.filter((name) => !run.includes(name)),
      unknown: run.filter((name) => !READ_MODEL_MIGRATIONS.includes(name)),
    },
    missingTables: expected.filter((name) => !tables.has(name)),
  };
};
