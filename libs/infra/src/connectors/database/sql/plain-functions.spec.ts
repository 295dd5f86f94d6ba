import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../../../../../../test/support/database.js';
import { isPlainFunction, namesColumnByAlias } from './plain-functions.js';
import { sqlReader } from './testing/sql-reader.js';

const { accept, read } = await sqlReader();

/** What changes between two calls and harms nobody: time and chance. */
const VOLATILE = [
  ...[
    'array_sample',
    'array_shuffle',
    'clock_timestamp',
    'gen_random_uuid',
    'random',
    'random_normal',
    'timeofday',
    'uuidv4',
    'uuidv7',
  ],
];

let database: TestDatabase;
let client: pg.Client;
beforeAll(async () => {
  database = await createEmptyDatabase();
  client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  await client.query(`
    create table x (a int, b text); create table t (a int, b text); create table b (a int); create table "X" (a int);
    create table y (a int, b text); insert into t values (1, 'one')`);
});
afterAll(async () => {
  await client.end();
  await database.drop();
});

const functionsWhere = async (condition: string): Promise<readonly string[]> => {
  const { rows } = await client.query<{ proname: string }>(
    `select distinct proname::text from pg_proc where pronamespace = 'pg_catalog'::regnamespace and ${condition} order by 1`,
  );
  return rows.map(({ proname }) => proname).filter(isPlainFunction);
};

describe('the functions that any statement may call', () => {
  it('change nothing between two calls, but for time and chance', async () =>
    expect(await functionsWhere(`provolatile = 'v'`)).toEqual(VOLATILE));
  it('are none that PostgreSQL keeps from ordinary roles', async () =>
    expect(await functionsWhere(`proacl is not null and not proacl::text like '%{=X%'`)).toEqual([]));
  it('take no text that is run as a query, and no name of an object', async () => {
    const telling = [
      `'regclass'`,
      `'regproc'`,
      `'regtype'`,
      `'regrole'`,
      `'regnamespace'`,
      `'oid'`,
      `'internal'`,
      `'refcursor'`,
    ];
    const taking = telling.map((type) => `${type}::regtype = any (proargtypes::oid[])`).join(' or ');
    expect(await functionsWhere(`prokind = 'f' and (${taking})`)).toEqual([]);
  });
  it('take the alias for the name of their column, but for those whose column has a name of its own', async () => {
    const named = await functionsWhere(
      `(select count(*) from unnest(proargmodes) mode where mode in ('o', 'b', 't')) = 1`,
    );
    expect(named).toEqual([
      'json_array_elements',
      'json_array_elements_text',
      'jsonb_array_elements',
      'jsonb_array_elements_text',
    ]);
    expect(named.filter(namesColumnByAlias)).toEqual([]);
  });
  it('are no procedures, triggers or handlers', async () =>
    expect(
      await functionsWhere(
        `(prokind = 'p' or prorettype in ('trigger'::regtype, 'event_trigger'::regtype, 'internal'::regtype))`,
      ),
    ).toEqual([]));
});

describe('PostgreSQL itself', () => {
  it('calls functions by the name of a field: what is refused here reads files there', async () => {
    const upper = await client.query(`select t.upper from unnest(array['a']) t`);
    expect(upper.rows).toEqual([{ upper: 'A' }]);
    const field = await client.query(`select ('a'::text).upper`);
    expect(field.rows).toEqual([{ upper: 'A' }]);
    expect(read(`select t.upper from unnest(array['a']) t`).ok).toBe(false);
    expect(read(`select ('a'::text).upper`).ok).toBe(false);
  });

  it.each([
    `select upper.upper from unnest(array['a']) as upper(x)`,
    `select upper.upper from jsonb_array_elements_text('["a"]') as upper`,
  ])('%s: calls the function, though the alias has its name', async (sql) => {
    expect((await client.query(sql)).rows).toEqual([{ upper: 'A' }]);
    expect(read(sql).ok).toBe(false);
  });

  it.each([
    'with x as (select * from x) select * from x',
    'with recursive x as (select 1 union select * from x) select * from x',
    'with a as (select * from b), b as (select 1) select * from a',
    'with x as (select 1) select * from public.x',
    'with x as (select 1) select * from "X"',
    'select * from (with x as (select 1) select * from x) q, x z',
    'with x as (select 1) select * from (with x as (select * from x) select * from x) q',
    '(with x as (select 1 as a) select a from x) union (select a from x)',
    'with x as (select 1), q as (with y as (select * from y) select * from x, y) select * from q',
    'with recursive r as (select * from (with t as (select * from t) select a from t) s union select a from r) select * from r',
    'select (select count(*) from t), array(select a from b), exists (select from x) from y',
    'select a from t where a in (with t as (select a from b) select a from t)',
  ])('%s: reads the tables that the facts say', async (sql) => {
    const plan = await client.query<{ 'QUERY PLAN': unknown }>(`explain (format json, verbose) ${sql}`);
    const found = [...JSON.stringify(plan.rows[0]).matchAll(/"Relation Name":"([^"]+)","Schema":"([^"]+)"/g)];
    const planned = new Set(found.map(([, name, schema]) => `${schema ?? ''}.${name ?? ''}`));
    expect(accept(sql).facts.tables).toEqual([...planned].sort());
  });

  it.each([
    "select t.a, lower(t.b), now(), random() > 2 from t where t.b like 'o%' for update",
    "select json_agg(t), string_agg(b, ',' order by a) filter (where a > 0) from t group by grouping sets ((a), ())",
    'select * from t tablesample bernoulli (100), unnest(array[1]) with ordinality u(n, o)',
    "select e.key, e.value from json_each('{}') e, t",
    'select (json_each(\'{"a": 1}\')).*',
    "select json_value('{}', '$.a' default 1 on empty), json_object('a': 1 returning jsonb)",
    "select extract(year from now()), trim(' a '), substring('abc' from 1 for 2), overlay('a' placing 'b' from 1)",
  ])('%s: runs where nothing can be written, or is refused for its lock', async (sql) => {
    const result = read(sql, { tool: 'query' });
    expect(result.ok).toBe(!sql.includes('for update'));
    if (!result.ok) return;
    await client.query('begin read only');
    await expect(client.query(sql)).resolves.toBeDefined();
    await client.query('rollback');
  });
});
