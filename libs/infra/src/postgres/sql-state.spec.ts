import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '#libs/domain/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { isPassing, isRefusedStatement, sqlStateOf, translateDatabaseError } from './index.js';

describe('errors of the database', () => {
  let database: TestDatabase;
  let client: pg.Client;
  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.connectionString });
    client.on('error', () => undefined);
    await client.connect();
    await client.query('create table one (value integer primary key); insert into one values (1)');
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  const failureOf = (sql: string, values: unknown[] = []): Promise<unknown> =>
    client.query(sql, values).then(
      () => null,
      (error: unknown) => error,
    );

  it.each([
    ['a unique violation', 'insert into one values (1)', '23505'],
    ['text that is no UUID', `select 'no'::uuid`, '22P02'],
    ['a number out of range', 'select 1 / (select 0)', '22012'],
  ])('refused: %s', async (_, sql, state) => {
    const error = await failureOf(sql);
    expect(sqlStateOf(error)).toBe(state);
    expect([isRefusedStatement(error), isPassing(error)]).toEqual([true, false]);
    expect(translateDatabaseError(error)).toBe(error);
  });

  it('refused: a raw U+0000 in text', async () => {
    const error = await failureOf('select $1::text', ['\0']);
    expect(sqlStateOf(error)).toBe('22021');
    expect(isRefusedStatement(error)).toBe(true);
  });

  it('passing: a statement that took too long', async () => {
    await client.query('set statement_timeout = 20');
    const error = await failureOf('select pg_sleep(10)');
    await client.query('reset statement_timeout');
    expect(sqlStateOf(error)).toBe('57014');
    expect(isPassing(error)).toBe(true);
    expect(translateDatabaseError(error)).toBeInstanceOf(StoreUnavailable);
  });

  it('passing: a port that nobody listens on', async () => {
    const nobody = new pg.Client({ connectionString: 'postgres://ags@127.0.0.1:1/none' });
    const error: unknown = await nobody.connect().catch((failure: unknown) => failure);
    expect(sqlStateOf(error)).toBeNull();
    expect(isPassing(error)).toBe(true);
    expect((translateDatabaseError(error) as Error).message).toContain('ECONNREFUSED');
  });

  it('neither: a defect of ours, and an error of a class of its own', async () => {
    const mistake = await failureOf('select * from no_such_table');
    class Answer extends Error {}
    for (const error of [mistake, new TypeError('x is not a function'), new Answer('no'), 'text', null]) {
      expect([isRefusedStatement(error), isPassing(error)]).toEqual([false, false]);
      expect(translateDatabaseError(error)).toBe(error);
    }
  });

  it('passing: a connection that the server or the network ended, whatever the message', async () => {
    const victim = new pg.Client({ connectionString: database.connectionString });
    victim.on('error', () => undefined);
    await victim.connect();
    const { rows } = await victim.query<{ pid: number }>('select pg_backend_pid() as pid');
    const failure = victim.query('select pg_sleep(10)').catch((error: unknown) => error);
    await client.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    const first = await failure;
    const second: unknown = await victim.query('select 1').catch((error: unknown) => error);
    expect([sqlStateOf(first), isPassing(first)]).toEqual(['57P01', true]);
    expect([sqlStateOf(second), isPassing(second)]).toEqual([null, true]);
  });
});
