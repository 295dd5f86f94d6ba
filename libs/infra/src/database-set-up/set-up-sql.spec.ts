import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ReadinessBench } from '../../../../test/support/readiness-bench.js';
import { setUpSql } from './set-up-sql.js';
import type { SetUpTable } from './set-up-table.js';

let bench: ReadinessBench;
beforeAll(async () => {
  bench = await ReadinessBench.start();
});
afterAll(() => bench?.close());
afterEach(async () => {
  await owner('drop publication if exists ags_publication');
  await owner('drop schema public cascade; create schema public');
});

const owner = (sql: string) => bench.owner.query(sql);
const table = (name: string, isFull = false): SetUpTable => ({ schema: 'public', name, isFull });
/** Every statement, as an owner whom an error does not stop; the errors. */
const setUp = async (...tables: readonly SetUpTable[]): Promise<readonly string[]> => {
  const said: string[] = [];
  for (const { sql } of setUpSql(bench.setUpTerms(tables))) {
    await owner(sql).catch((error: Error) => said.push(error.message));
  }
  return said;
};
const published = async (): Promise<readonly string[]> => {
  const { rows } = await owner(
    `select r.prrelid::regclass::text as name from pg_publication_rel r join pg_publication p on p.oid = r.prpubid
      where p.pubname = 'ags_publication' order by 1`,
  );
  return rows.map(({ name }) => String(name));
};
/** All that a set-up could leave, with the transactions that wrote it. */
const traces = async (): Promise<unknown> => {
  const { rows } = await owner(`select
    (select json_agg(json_build_array(p.xmin::text, p.*)) from pg_publication p) as publications,
    (select json_agg(json_build_array(r.xmin::text, r.prrelid)) from pg_publication_rel r) as tables,
    (select json_agg(json_build_array(a.xmin::text, a.rolname, a.rolpassword)) from pg_authid a where rolname like 'ags%') as roles,
    (select json_agg(json_build_array(c.relname, c.relreplident, c.relacl) order by c.relname) from pg_class c
      where relnamespace = 'public'::regnamespace) as classes,
    (select json_agg(json_build_array(slot_name, confirmed_flush_lsn)) from pg_replication_slots) as slots,
    (select json_agg(json_build_array(nspname, nspacl)) from pg_namespace where nspname = 'public') as schemas`);
  return rows[0];
};

describe('the set-up', () => {
  it('changes nothing when it is run again', async () => {
    await owner('create table orders (id serial primary key, state text)');
    await owner('create table notes (text text, twice text generated always as (text || text) stored)');
    const tables = [table('orders'), table('notes', true)];
    expect(await setUp(...tables)).toEqual([]);
    const before = await traces();
    expect(await setUp(...tables)).toEqual([]);
    expect(await traces()).toEqual(before);
    expect(await published()).toEqual(['notes', 'orders']);
  });

  it('lets the agents work on the tables named, with their sequences, and on no other', async () => {
    await owner(
      'create table orders (id serial primary key, state text); create table secrets (id serial primary key)',
    );
    await setUp(table('orders'));
    await bench.givePassword('ags_agent');
    const agent = await bench.session('ags_agent');
    await agent.query(`insert into orders (state) values ('new')`);
    await agent.query(`update orders set state = 'paid'`);
    expect((await agent.query('delete from orders returning state')).rows).toEqual([{ state: 'paid' }]);
    await expect(agent.query('select from secrets')).rejects.toThrow(/permission denied/);
    await expect(agent.query('truncate orders')).rejects.toThrow(/permission denied/);
    await agent.close();
  });

  it('makes roles that nobody can log in as before they have a password', async () => {
    await setUp();
    await owner('alter role ags_agent password null');
    await expect(bench.session('ags_agent')).rejects.toMatchObject({ reason: 'auth_failed' });
  });

  it('grants a witness no table', async () => {
    await owner('create table orders (id serial primary key)');
    await setUp(table('orders'));
    const { rows } = await owner(
      `select has_table_privilege('ags_witness', 'orders', 'select, insert, update, delete') as has`,
    );
    expect(rows).toEqual([{ has: false }]);
  });

  it('takes names as they are', async () => {
    const name = `o"r'd\\er; drop table orders; --$ags$`;
    await owner(`create table "${name.replaceAll('"', '""')}" (id serial primary key)`);
    expect(await setUp(table(name))).toEqual([]);
    expect(await setUp(table(name))).toEqual([]);
    expect(await published()).toHaveLength(1);
  });

  it('says which table there is not', async () => {
    expect(await setUp(table('absent'))).toContain('There is no table "public"."absent".');
    await owner('create view seen as select 1 as id');
    expect(await setUp(table('seen'))).toContain('There is no table "public"."seen".');
  });

  it('refuses a publication of all tables', async () => {
    await owner('create publication ags_publication for all tables');
    expect(await setUp()).toEqual(['The publication "ags_publication" is of all tables.']);
  });

  it('puts a publication right that publishes too little', async () => {
    await owner(`create publication ags_publication with (publish = 'insert')`);
    expect(await setUp()).toEqual([]);
    const { rows } = await owner(
      `select pubinsert and pubupdate and pubdelete and pubtruncate and pubviaroot as all, pubgencols from pg_publication`,
    );
    expect(rows).toEqual([{ all: true, pubgencols: 's' }]);
  });
});

/** Every statement that worked before the set-up works after it. */
const CUSTOMERS: readonly (readonly [string, string, SetUpTable, boolean])[] = [
  ['a table with a key', 'create table odd (id int primary key, n int)', table('odd'), true],
  ['a table with a key, FULL', 'create table odd (id int primary key, n int)', table('odd', true), true],
  ['a table without a key', 'create table odd (id int, n int)', table('odd'), false],
  ['a table without a key, FULL', 'create table odd (id int, n int)', table('odd', true), true],
  ['a deferrable key', 'create table odd (id int primary key deferrable, n int)', table('odd'), false],
  [
    'partitions without a key',
    'create table odd (id int, n int) partition by range (id); create table odd_1 partition of odd default',
    table('odd'),
    false,
  ],
  [
    'partitions of partitions without a key, FULL',
    `create table odd (id int, n int) partition by range (id); create table odd_1 partition of odd default partition by range (n);
     create table odd_2 partition of odd_1 default`,
    table('odd', true),
    true,
  ],
  [
    'a partition whose identity is NOTHING',
    `create table odd (id int primary key, n int) partition by range (id); create table odd_1 partition of odd default;
     alter table odd_1 replica identity nothing`,
    table('odd'),
    false,
  ],
  [
    'a stored generated column, FULL',
    'create table odd (id int, n int, twice int generated always as (id * 2) stored)',
    table('odd', true),
    true,
  ],
  [
    'a virtual generated column, FULL',
    'create table odd (id int primary key, n int, twice int generated always as (id * 2) virtual)',
    table('odd', true),
    false,
  ],
  [
    'a virtual generated column and a key',
    'create table odd (id int primary key, n int, twice int generated always as (id * 2) virtual)',
    table('odd'),
    true,
  ],
  [
    'a virtual generated column and FULL of before',
    `create table odd (id int primary key, n int, twice int generated always as (id * 2) virtual);
     alter table odd replica identity full`,
    table('odd'),
    false,
  ],
  [
    'children that inherit and have no key',
    'create table odd (id int primary key, n int); create table odd_child () inherits (odd)',
    table('odd'),
    true,
  ],
  [
    'another publication that leaves a column out, FULL',
    'create table odd (id int primary key, n int); create publication theirs for table odd (id)',
    table('odd', true),
    false,
  ],
  [
    'another publication without generated columns, FULL',
    `create table odd (id int primary key, n int, twice int generated always as (id * 2) stored);
     create publication theirs for table odd`,
    table('odd', true),
    false,
  ],
  [
    'another publication of a whole schema, FULL',
    `create table odd (id int primary key, n int, twice int generated always as (id * 2) stored);
     create publication theirs for tables in schema public`,
    table('odd', true),
    false,
  ],
  [
    'another publication of all columns, FULL',
    'create table odd (id int primary key, n int); create publication theirs for table odd',
    table('odd', true),
    true,
  ],
  [
    'a cascade to a table without a key, which is not named',
    'create table odd (id int primary key, n int); create table dependents (odd int references odd on delete cascade on update cascade)',
    table('odd'),
    true,
  ],
];

describe('the customer’s own statements', () => {
  afterEach(() => owner('drop publication if exists theirs'));

  it.each(CUSTOMERS)('work on as before: %s', async (_case, create, wanted, isPublished) => {
    await owner(create);
    const said = await setUp(wanted);
    expect([said.length, (await published()).length], said.join()).toEqual(isPublished ? [0, 1] : [1, 0]);
    await owner('insert into odd (id, n) values (1, 1), (2, 2)');
    if (create.includes('dependents')) await owner('insert into dependents values (1)');
    if (create.includes('odd_child')) await owner('insert into odd_child values (3, 3)');
    await owner('update odd set n = n + 1');
    await owner('update odd set id = 10 where id = 1');
    await owner('delete from odd');
    await owner('truncate odd cascade');
    expect(await setUp(wanted)).toHaveLength(said.length);
  });

  it('wait for no set-up longer than its five seconds', async () => {
    await owner('create table odd (id int)');
    const other = await bench.ownerSession();
    await other.query('begin; lock table odd in access share mode');
    const started = performance.now();
    expect(await setUp(table('odd', true))).toEqual([expect.stringMatching(/lock timeout/)]);
    expect(performance.now() - started).toBeLessThan(15_000);
    await other.query('rollback');
    await other.close();
  });
});
