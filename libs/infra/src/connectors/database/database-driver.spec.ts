import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import type { JsonObject } from '#libs/crypto';

import { type GivenDatabase, givenDatabase } from './testing/given-database.js';

let shop: GivenDatabase;
beforeAll(async () => {
  shop = await givenDatabase({ max_rows_changed: 5, max_rows_returned: 10 });
});
afterAll(() => shop.close());
beforeEach(() => {
  shop.said.length = 0;
});

const count = async (sql: string): Promise<number> => Number((await shop.owner.query<{ n: string }>(sql)).rows[0]?.n);

describe('database connector: a statement that reads', () => {
  it('answers rows as objects, with what JSON has for each type and texts for the rest', async () => {
    const sql = `select 1::int2 as small, 2 as int, 9007199254740993 as big, 1.50::numeric as exact, 0.5::float8 as float,
      'NaN'::float8 as nan, true as yes, null as none, 'text' as text, '{"a":[1]}'::jsonb as doc, '{"a":12345678901234567890}'::json as wide,
      timestamptz '2026-01-02 03:04:05.678901+00' as at, '\\x00ff'::bytea as bytes, array[1,2] as list, 1 as int`;
    expect(await shop.result('query', { sql })).toMatchObject({
      command: 'SELECT',
      row_count: 1,
      truncated: false,
      rows: [
        {
          ...{
            small: 1,
            int: 2,
            big: '9007199254740993',
            exact: '1.50',
            float: 0.5,
            nan: 'NaN',
            yes: true,
            none: null,
          },
          ...{ text: 'text', doc: { a: [1] }, wide: '{"a":12345678901234567890}', at: '2026-01-02 03:04:05.678901+00' },
          ...{ bytes: '\\x00ff', list: '{1,2}', int_2: 1 },
        },
      ],
    });
  });

  it('names the type of each column', async () => {
    const result = (await shop.result('query', {
      sql: 'select id, balance, array[1] as a from customers limit 1',
    })) as JsonObject;
    expect(result['columns']).toEqual([
      { name: 'id', type: 'int4' },
      { name: 'balance', type: 'numeric' },
      { name: 'a', type: 'integer[]' },
    ]);
  });

  it('stops at max_rows_returned, and says that there are more', async () => {
    const result = (await shop.result('query', { sql: 'select id from orders order by id' })) as JsonObject;
    expect(result).toMatchObject({ row_count: 10, truncated: true });
    expect(result['rows']).toHaveLength(10);
  });

  it('leaves out rows that do not fit max_result_bytes', async () => {
    const connector = shop.withConfig({ max_result_bytes: 1_024 });
    const sql = `select repeat('x', 300) as x from orders limit 8`;
    const result = (await shop.result('query', { sql }, { connector })) as JsonObject;
    expect(result['truncated']).toBe(true);
    expect((result['rows'] as unknown[]).length).toBeLessThan(4);
    expect(JSON.stringify(result).length).toBeLessThan(1_024);
  });

  it('a row that no process should hold ends the connection, and the next call works', async () => {
    const sql = `select repeat('x', 8000000) as x`;
    expect(await shop.send('query', { sql })).toMatchObject({ status: 'failed', errorCode: 'response_too_large' });
    expect(await shop.send('query', { sql: 'select 1 as one' })).toMatchObject({ status: 'succeeded' });
  });

  it('rows that do not fit are not even made: a terabyte of them would end by the timeout, as a failure', async () => {
    const sql = `select repeat('x', 1000000) as x from generate_series(1, 1000000)`;
    const connector = shop.withConfig({ max_rows_returned: 10_000 });
    expect(await shop.result('query', { sql }, { connector })).toMatchObject({ command: 'SELECT', truncated: true });
  });

  it('rows of many steps come whole and in their order', async () => {
    const connector = shop.withConfig({ max_rows_returned: 10_000 });
    const sql = 'select n from generate_series(1, 5000) n';
    const result = (await shop.result('query', { sql }, { connector })) as JsonObject;
    expect(result).toMatchObject({ row_count: 5_000, truncated: false, columns: [{ name: 'n', type: 'int4' }] });
    expect(result['rows']).toEqual(Array.from({ length: 5_000 }, (_, index) => ({ n: index + 1 })));
  });

  it('parameters are sent as parameters', async () => {
    const name = `x'; drop table customers; --`;
    const sql = 'select count(*)::int as n from customers where name = $1 or id = $2';
    expect(await shop.result('query', { sql, params: [name, 7] })).toMatchObject({ rows: [{ n: 1 }] });
  });

  it('shows people the statement and the texts of its parameters before anything is sent', () => {
    const sql = 'select count(*)::int as n from customers where name = $1 or id = $2';
    const preview = (args: JsonObject) => shop.driver.previewOf(shop.connector, 'query', args);
    expect(preview({ sql, params: [null, 7] })).toEqual({ request: { sql, params: [null, '7'] }, fault: null });
    expect(preview({ sql })).toEqual({ request: null, fault: expect.stringContaining('Nothing was sent') as string });
  });

  it('as many parameters as the statement has, or nothing is sent', async () => {
    const outcome = await shop.send('query', { sql: 'select $1::int as n', params: [1, 2] });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'statement_refused', hasSent: false });
  });

  it('runs READ ONLY, whatever a function that the config allows does', async () => {
    await shop.owner.query(
      `create function sly() returns int language sql as 'delete from orders where id = 1 returning 1'`,
    );
    const connector = shop.withConfig({ allowed_functions: ['public.sly'] });
    const outcome = await shop.send('query', { sql: 'select public.sly() as n' }, { connector });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'upstream_error' });
    expect(JSON.parse(outcome.result ?? '')).toMatchObject({ sqlstate: '25006' });
    expect(await count('select count(*) n from orders where id = 1')).toBe(1);
  });

  it('an unqualified name means the first schema alone', async () => {
    await shop.owner.query(
      'create schema if not exists other; create table other.hidden (id int); create table public.seen (id int)',
    );
    await shop.owner.query(
      `grant usage on schema other to ${shop.role}; grant select on other.hidden, public.seen to ${shop.role}`,
    );
    const connector = shop.withConfig({ schemas: ['public', 'other'] });
    const outcome = await shop.send('query', { sql: 'select count(*) as n from hidden' }, { connector });
    expect(JSON.parse(outcome.result ?? '')).toMatchObject({ sqlstate: '42P01' });
    const named = await shop.send('query', { sql: 'select count(*) as n from other.hidden' }, { connector });
    expect(named).toMatchObject({ status: 'succeeded' });
  });

  it('an error of the database is in the result, without the password', async () => {
    const outcome = await shop.send('query', { sql: `select $1::int as n`, params: ['canary-secret'] });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'upstream_error', hasSent: true });
    expect(outcome.result).toContain('22P02');
    expect(outcome.result).not.toContain('canary');
  });

  it('longer than statement_timeout_ms: ended by the database, nothing applied', async () => {
    const connector = shop.withConfig({ statement_timeout_ms: 100, allowed_functions: ['public.nap'] });
    await shop.owner.query(
      `create function nap() returns int language plpgsql as 'begin perform pg_sleep(5); return 1; end'`,
    );
    const outcome = await shop.send('query', { sql: 'select public.nap() as n' }, { connector });
    expect(JSON.parse(outcome.result ?? '')).toMatchObject({ sqlstate: '57014' });
  });
});

describe('database connector: a statement that writes', () => {
  it('commits, says what it did, and had it put on record before', async () => {
    const sql = 'update customers set name = $1 where id = $2 returning id, name';
    const outcome = await shop.send('execute', { sql, params: ['renamed', 3] });
    expect(outcome).toMatchObject({ status: 'succeeded', hasSent: true });
    expect(JSON.parse(outcome.result ?? '')).toMatchObject({
      ...{ command: 'UPDATE', row_count: 1, rows: [{ id: 3, name: 'renamed' }] },
    });
    expect(outcome.transaction).toMatchObject({
      rows: 1,
      counts: [{ table: 'public.customers', insert: 0, update: 1, delete: 0, truncate: 0 }],
    });
    expect(outcome.transaction?.commit_lsn).toMatch(/^[0-9A-F]+\/[0-9A-F]+$/);
    expect(shop.said).toEqual([
      {
        xid: outcome.transaction?.xid,
        kind: 'update',
        tables: [{ table: 'public.customers', kinds: ['update'], is_partitioned: false }],
        side_effect_tables: [],
      },
    ]);
    expect(await count(`select count(*) n from customers where name = 'renamed'`)).toBe(1);
  });

  it('counts only what this transaction did, also in a session that wrote before', async () => {
    for (const id of [101, 102, 103]) {
      const sql = 'insert into customers (id, name) values ($1, $2)';
      const { transaction } = await shop.send('execute', { sql, params: [id, 'new'] });
      expect(transaction?.counts).toEqual([
        { table: 'public.customers', insert: 1, update: 0, delete: 0, truncate: 0 },
      ]);
    }
  });

  it('changes no row, and that is counted too', async () => {
    const outcome = await shop.send('execute', { sql: 'delete from orders where id = 999999' });
    expect(outcome.transaction).toMatchObject({ rows: 0, counts: [] });
  });

  it('more rows than max_rows_changed: rolled back', async () => {
    const outcome = await shop.send('execute', { sql: 'update orders set cents = 0 where id < 8' });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'row_limit_exceeded' });
    expect(outcome.transaction).toBeUndefined();
    expect(await count('select count(*) n from orders where cents = 0')).toBe(0);
  });

  it('rows of a table that the statement does not name: rolled back, unless the config allows the table', async () => {
    const sql = 'delete from customers where id = 20';
    const refused = await shop.send('execute', { sql });
    expect(refused).toMatchObject({ status: 'failed', errorCode: 'row_limit_exceeded' });
    expect(refused.errorMessage).toContain('public.orders');
    expect(await count('select count(*) n from customers where id = 20')).toBe(1);
    const connector = shop.withConfig({ side_effect_tables: ['public.orders'], max_rows_changed: 100 });
    const { status, transaction } = await shop.send('execute', { sql }, { connector });
    expect(status).toBe('succeeded');
    expect(transaction?.rows).toBe(1);
    expect(transaction?.counts?.map(({ table, delete: rows }) => [table, rows])).toEqual([
      ['public.customers', 1],
      ['public.orders', 3],
    ]);
  });

  it('a deferred trigger runs before its rows are counted', async () => {
    await shop.owner.query(`
      create table late (id int primary key); create table log (id int); grant all on late, log to public;
      create function late_log() returns trigger language plpgsql as 'begin insert into log values (1); return null; end';
      create constraint trigger t after insert on late deferrable initially deferred for each row execute function late_log()`);
    const outcome = await shop.send('execute', { sql: 'insert into late values (1)' });
    expect(outcome).toMatchObject({ errorCode: 'row_limit_exceeded' });
    expect(outcome.errorMessage).toContain('public.log');
  });

  it('a partition is its root, and a row that moves is said to be able to', async () => {
    await shop.owner.query(`
      create table parts (id int, k int) partition by list (k);
      create table parts_1 partition of parts for values in (1); create table parts_2 partition of parts for values in (2);
      insert into parts values (1, 1); grant all on parts, parts_1, parts_2 to public`);
    const outcome = await shop.send('execute', { sql: 'update parts_1 set k = 2 where false' });
    expect(outcome.status).toBe('succeeded');
    const moved = await shop.send('execute', { sql: 'update parts set k = 2 where id = 1' });
    expect(moved.transaction?.counts).toEqual([
      { table: 'public.parts', insert: 1, update: 0, delete: 1, truncate: 0 },
    ]);
    const tables = [{ table: 'public.parts', kinds: ['update'], is_partitioned: true }];
    expect(shop.said.map((said) => said.tables)).toEqual([tables, tables]);
  });

  it('a plain read is sent to query', async () => {
    const outcome = await shop.send('execute', { sql: 'select 1 as one' });
    expect(outcome).toMatchObject({ errorCode: 'statement_refused', hasSent: false });
  });

  it('what is not recorded is not done', async () => {
    const recordProgress = () => Promise.resolve('service_unavailable' as const);
    const outcome = await shop.send('execute', { sql: 'delete from orders where id = 50' }, { recordProgress });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'service_unavailable' });
    expect(await count('select count(*) n from orders where id = 50')).toBe(1);
  });

  it('a Stop between the statement and COMMIT rolls back', async () => {
    const answers = [null, 'agent_stopped' as const];
    const mayStillSend = () => Promise.resolve(answers.shift() ?? null);
    const outcome = await shop.send('execute', { sql: 'delete from orders where id = 50' }, { mayStillSend });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'agent_stopped', hasSent: true });
    expect(await count('select count(*) n from orders where id = 50')).toBe(1);
  });

  it('a Stop before BEGIN sends nothing', async () => {
    const mayStillSend = () => Promise.resolve('agent_stopped' as const);
    const outcome = await shop.send('execute', { sql: 'delete from orders where id = 50' }, { mayStillSend });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'agent_stopped', hasSent: false });
    expect(shop.said).toEqual([]);
  });

  it('a constraint that fails at COMMIT is a failure, and nothing is applied', async () => {
    await shop.owner.query(
      `create table pairs (id int primary key deferrable initially deferred); grant all on pairs to public`,
    );
    await shop.owner.query('insert into pairs values (1)');
    const outcome = await shop.send('execute', { sql: 'insert into pairs values (1)' });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'upstream_error' });
    expect(JSON.parse(outcome.result ?? '')).toMatchObject({ sqlstate: '23505' });
  });

  it('a session that the server ended meanwhile is replaced', async () => {
    const backends = `select pg_terminate_backend(pid) from pg_stat_activity where usename = '${shop.role}'`;
    expect((await shop.send('execute', { sql: 'update orders set cents = 1 where id = 51' })).status).toBe('succeeded');
    await shop.owner.query(backends);
    expect((await shop.send('execute', { sql: 'update orders set cents = 2 where id = 51' })).status).toBe('succeeded');
  });
});
