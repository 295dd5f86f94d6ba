import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { installRowSchemas } from './database.js';

let database: TestDatabase;
let pool: pg.Pool;
let reader: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  // A lock that is not had at once is an error and no wait.
  pool = new pg.Pool({ connectionString: database.connectionString, max: 1, options: '-c lock_timeout=1000' });
  reader = new pg.Client({ connectionString: database.connectionString });
  await reader.connect();
  await installRowSchemas(pool);
});
afterAll(async () => {
  await reader?.end();
  await pool?.end();
  await database?.drop();
});

const tables = async (): Promise<readonly string[]> => {
  const { rows } = await reader.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  return rows.map(({ name }) => name);
};

it('are installed once more beside whoever reads all of their tables', async () => {
  const all = await tables();
  expect(all).toEqual(expect.arrayContaining(['people.code_misses', 'webhooks.deliveries', 'gate.liveness']));
  await reader.query('begin');
  await reader.query(`lock table ${all.join(', ')} in access share mode`);
  await installRowSchemas(pool);
  await reader.query('rollback');
});

it('gain the columns that an older version did not have', async () => {
  await reader.query('alter table webhooks.deliveries drop column claimer');
  await reader.query('alter table people.tokens drop column site');
  await installRowSchemas(pool);
  const { rows } = await reader.query(
    `select attname from pg_attribute where not attisdropped
        and (attrelid, attname) in (('webhooks.deliveries'::regclass, 'claimer'), ('people.tokens'::regclass, 'site'))`,
  );
  expect(rows).toHaveLength(2);
});
