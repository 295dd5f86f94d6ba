import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { installSchema } from './install-schema.js';

describe('install schema', () => {
  let database: TestDatabase;
  let pool: pg.Pool;

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new pg.Pool({ connectionString: database.connectionString, max: 8 });
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  const statementsOf = (schema: string) => [
    `create schema if not exists ${schema}`,
    `create table if not exists ${schema}.things (name text primary key)`,
    `create index if not exists things_by_length on ${schema}.things (length(name))`,
  ];
  const exists = async (schema: string) =>
    (await pool.query(`select from pg_namespace where nspname = $1`, [schema])).rowCount === 1;

  it('may be run by several processes at once, and again', async () => {
    const install = () => installSchema(pool, 'shared', statementsOf('shared'));
    await Promise.all(Array.from({ length: 8 }, install));
    await pool.query(`insert into shared.things values ('kept')`);
    await install();
    expect((await pool.query(`select name from shared.things`)).rows).toEqual([{ name: 'kept' }]);
  });

  it('is tried again after a deadlock, and gives up in the end', async () => {
    await pool.query('create sequence tries');
    const deadlocks = (below: number) =>
      `do $$ begin if nextval('tries') < ${below} then raise 'deadlock' using errcode = '40P01'; end if; end $$`;
    await installSchema(pool, 'crossed', [...statementsOf('crossed'), deadlocks(4)]);
    expect(await exists('crossed')).toBe(true);
    const never = [...statementsOf('never'), deadlocks(1_000)];
    await expect(installSchema(pool, 'never', never)).rejects.toMatchObject({ code: '40P01' });
    expect(await exists('never')).toBe(false);
  });

  it('leaves nothing behind when a statement fails, and can then be run again', async () => {
    const broken = [...statementsOf('half'), 'create table half.things (name text primary key)'];
    await expect(installSchema(pool, 'half', broken)).rejects.toMatchObject({ code: '42P07' });
    expect(await exists('half')).toBe(false);
    await installSchema(pool, 'half', statementsOf('half'));
    expect(await exists('half')).toBe(true);
  });
});
