import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '#libs/infra/config';
import { prepareDeployment } from '#libs/infra/deployment';
import { createReadOnlyPool } from '#libs/infra/postgres';
import { READ_MODEL_MIGRATIONS } from '#libs/infra/read-models';
import type pg from 'pg';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { inspectSchema } from './installed-schema.js';

let database: TestDatabase;
let empty: TestDatabase;
let stateDir: string;
const pools: pg.Pool[] = [];

const poolOf = ({ connectionString }: TestDatabase): pg.Pool => {
  const pool = createReadOnlyPool({
    connectionString,
    applicationName: 'installed schema spec',
    maxConnections: 1,
    onError: () => undefined,
  });
  pools.push(pool);
  return pool;
};

beforeAll(async () => {
  [database, empty] = [await createTestDatabase(), await createTestDatabase()];
  stateDir = await mkdtemp(join(tmpdir(), 'ags-schema-'));
  const config = parseConfig({ SERVICE_STATE_DIR: stateDir, DATABASE_URL: database.connectionString });
  const { deployment } = await prepareDeployment(config, 'installed schema spec', silentLogger, () => undefined);
  await deployment.close();
});
afterAll(async () => {
  for (const pool of pools) await pool.end();
  await database?.drop();
  await empty?.drop();
  await rm(stateDir, { recursive: true, force: true });
});

describe('the schema of a database', () => {
  it('that was prepared misses nothing, and holds no table that is not known', async () => {
    const pool = poolOf(database);
    expect(await inspectSchema(pool, true)).toEqual({
      eventStore: { installed: 1, known: 1 },
      readModels: { missing: [], unknown: [] },
      missingTables: [],
    });
    const { rows } = await pool.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const bare = await inspectSchema(poolOf(empty), true);
    // Of a database with an event store alone everything else is missing, by name.
    expect(rows.map(({ name }) => name).sort()).toEqual(
      [...bare.missingTables, 'event_store.event_store_schema', 'event_store.events'].sort(),
    );
    expect(bare).toMatchObject({ eventStore: { installed: 1 }, readModels: { unknown: [] } });
    expect(bare.readModels.missing).toEqual(READ_MODEL_MIGRATIONS);
  });

  it('holds no log where that lies elsewhere', async () => {
    expect(await inspectSchema(poolOf(database), false)).toMatchObject({ eventStore: null, missingTables: [] });
    const bare = await inspectSchema(poolOf(empty), false);
    expect(bare.missingTables).not.toContain('event_store.events');
    expect(bare.missingTables).toContain('gate.payloads');
  });

  it('can only be looked at', async () => {
    await expect(poolOf(empty).query('create table x (y int)')).rejects.toMatchObject({ code: '25006' });
  });
});
