import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseConfig } from '#libs/infra/config';
import { prepareDeployment } from '#libs/infra/deployment';
import { createReadOnlyPool } from '#libs/infra/postgres';
import { startedSchemas } from '#libs/infra/schemas';
import pg from 'pg';
import {
  createEmptyDatabase,
  createTestDatabase,
  createWholeDatabase,
  type TestDatabase,
} from '../../../../test/support/database.js';
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
      isPrepared: true,
      noted: [...startedSchemas(true), 'first_organization'].sort(),
      behind: [],
      newer: [],
      unfit: [],
      missingTables: [],
    });
    const { rows } = await pool.query<{ name: string }>(
      `select schemaname || '.' || tablename as name from pg_tables
        where schemaname not in ('pg_catalog', 'information_schema')`,
    );
    const bare = await inspectSchema(poolOf(empty), true);
    // Of a database with an event store alone everything else is missing, by name.
    expect(rows.map(({ name }) => name).sort()).toEqual(
      [...bare.missingTables, 'event_store.event_store_schema', 'event_store.events', 'schema_steps.applied'].sort(),
    );
    expect(bare).toMatchObject({ isPrepared: true, newer: [], unfit: [] });
    expect(bare.behind).toEqual(startedSchemas(true).filter((name) => name !== 'event_store'));
  });

  it('holds no log where that lies elsewhere', async () => {
    expect(await inspectSchema(poolOf(database), false)).toMatchObject({ isPrepared: true, missingTables: [] });
    const bare = await inspectSchema(poolOf(empty), false);
    expect(bare.isPrepared).toBe(false);
    expect(bare.missingTables).not.toContain('event_store.events');
    expect(bare.missingTables).toContain('gate.payloads');
  });

  it.each([
    ['event_store.events', true],
    ['gate.payloads', false],
  ])('that was prepared stays so without %s, which is missing (holds the log: %s)', async (table, hasLog) => {
    const whole = await createWholeDatabase();
    const pool = poolOf(whole);
    const client = new pg.Client({ connectionString: whole.connectionString });
    await client.connect();
    await client.query(`drop table ${table}`);
    const state = await inspectSchema(pool, hasLog);
    expect(state).toMatchObject({ isPrepared: true, behind: [], missingTables: expect.arrayContaining([table]) });
    await client.query('drop table schema_steps.applied');
    // As if 0.1.0 had made it.
    expect(await inspectSchema(pool, hasLog)).toMatchObject({ isPrepared: false });
    expect(await inspectSchema(pool, !hasLog)).toMatchObject({ isPrepared: true, noted: [] });
    await client.end();
    await pool.end();
    pools.pop();
    await whole.drop();
  });

  it('in which nothing was installed is not prepared', async () => {
    const untouched = await createEmptyDatabase();
    const pool = poolOf(untouched);
    expect(await inspectSchema(pool, true)).toMatchObject({ isPrepared: false, behind: startedSchemas(true) });
    await pool.end();
    pools.pop();
    await untouched.drop();
  });

  it('can only be looked at', async () => {
    await expect(poolOf(empty).query('create table x (y int)')).rejects.toMatchObject({ code: '25006' });
  });
});
