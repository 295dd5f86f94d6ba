import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '#libs/crypto';
import type { LoggedRow, LoggedTransaction } from '#libs/domain/connectors';
import {
  createLoggedDatabase,
  followLog,
  type FollowedLogUnderTest,
  type LoggedDatabase,
} from '../../../../test/support/change-log.js';

let logged: LoggedDatabase;
let log: FollowedLogUnderTest;

beforeAll(async () => {
  logged = await createLoggedDatabase('with (publish_via_partition_root = true)');
  log = followLog(logged);
});
afterAll(async () => {
  await log.stop();
  await logged.drop();
});

/** Publishes what the statements made and gives what the log says of the last of them alone. */
const loggedOf = async (setup: string, tables: readonly string[], statement: string): Promise<LoggedTransaction> => {
  const before = log.seen.length;
  await logged.client.query(setup);
  if (tables.length > 0) await logged.publish(...tables);
  const sentinel = `fence ${before} ${Math.random()}`;
  await fence(sentinel);
  await logged.client.query(statement);
  const behind = `behind ${sentinel}`;
  await fence(behind);
  const at = (text: string) => log.seen.findIndex(({ marks }) => marks.includes(text));
  while (at(behind) === -1) await log.has(log.seen.length + 1);
  const between = log.seen.slice(at(sentinel) + 1, at(behind));
  expect(between).toHaveLength(1);
  return between[0] as LoggedTransaction;
};
const fence = (text: string) =>
  logged.client.query(`select pg_logical_emit_message(true, 'service.action', $1)`, [text]);
const countsOf = ({ tables }: LoggedTransaction) =>
  tables.map(({ table, insert, update, delete: gone, truncate }) => [table, insert, update, gone, truncate]);
const textsOf = (tuple: LoggedRow['old']) =>
  tuple?.map((value) =>
    value === null ? null : 'text' in value ? value.text : 'null' in value ? 'NULL' : 'unchanged',
  ) ?? null;
const rowsOf = ({ rows }: LoggedTransaction) => rows.map((row) => [row.kind, textsOf(row.old), textsOf(row.new)]);

describe('transaction assembler', () => {
  it('gives number, place and time of a transaction, its tables and rows', async () => {
    const seen = await loggedOf(
      'create table one (id int primary key, name text)',
      ['one'],
      `begin; insert into one values (1, 'a'); commit`,
    );
    expect(seen).toMatchObject({
      tables: [{ table: 'public.one', insert: 1, update: 0, delete: 0, truncate: 0, replica_identity: 'default' }],
      rows: [
        {
          table: 'public.one',
          kind: 'insert',
          columns: [
            { name: 'id', type: 'int4', is_key: true },
            { name: 'name', type: 'text', is_key: false },
          ],
          old: null,
          new: [{ text: '1' }, { text: 'a' }],
        },
      ],
      marks: [],
    });
    expect(seen.committed_at).toMatch(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('holds only the key of an old row under DEFAULT, and nothing where the key stays', async () => {
    const setup = `create table by_key (id int primary key, name text); insert into by_key values (1, 'a'), (2, 'b')`;
    const change = `begin; update by_key set name = 'c' where id = 1; update by_key set id = 3 where id = 2;
      delete from by_key where id = 1; commit`;
    const seen = await loggedOf(setup, ['by_key'], change);
    expect(rowsOf(seen)).toEqual([
      ['update', null, ['1', 'c']],
      ['update', ['2', null], ['3', 'b']],
      ['delete', ['1', null], null],
    ]);
  });

  it('holds the whole old row under FULL', async () => {
    const setup = `create table whole (id int, name text); alter table whole replica identity full;
      insert into whole values (1, null), (2, 'b')`;
    const seen = await loggedOf(setup, ['whole'], `begin; update whole set name = 'x'; delete from whole; commit`);
    expect(seen.tables).toMatchObject([{ table: 'public.whole', replica_identity: 'full', update: 2, delete: 2 }]);
    expect(rowsOf(seen)).toEqual([
      ['update', ['1', 'NULL'], ['1', 'x']],
      ['update', ['2', 'b'], ['2', 'x']],
      ['delete', ['1', 'x'], null],
      ['delete', ['2', 'x'], null],
    ]);
  });

  it('holds the columns of the index that was chosen for the identity', async () => {
    const setup = `create table by_index (id int primary key, code text not null, name text);
      create unique index by_index_code on by_index (code); alter table by_index replica identity using index by_index_code;
      insert into by_index values (1, 'c', 'n')`;
    const seen = await loggedOf(setup, ['by_index'], 'delete from by_index');
    expect(seen.tables).toMatchObject([{ replica_identity: 'index' }]);
    expect(rowsOf(seen)).toEqual([['delete', [null, 'c', null], null]]);
  });

  it('holds inserts into a table without identity, whose other changes the database itself refuses', async () => {
    const setup = 'create table nameless (id int); alter table nameless replica identity nothing';
    const seen = await loggedOf(setup, ['nameless'], 'insert into nameless values (7)');
    expect(seen.tables).toMatchObject([{ replica_identity: 'nothing', insert: 1 }]);
    await expect(logged.client.query('delete from nameless')).rejects.toMatchObject({ code: '55000' });
  });

  it('says of a long value that was left alone that it is unchanged; the old row under FULL has it', async () => {
    const setup = `create table long_values (id int primary key, n int, body text);
      alter table long_values alter body set storage external; create table long_full (like long_values including all);
      alter table long_full replica identity full;
      insert into long_values values (1, 0, repeat('x', 9000)); insert into long_full table long_values`;
    const change = 'begin; update long_values set n = 1; update long_full set n = 1; commit';
    const seen = await loggedOf(setup, ['long_values', 'long_full'], change);
    expect(rowsOf(seen)).toEqual([
      ['update', null, ['1', '1', 'unchanged']],
      ['update', ['1', '0', 'x'.repeat(9000)], ['1', '1', 'unchanged']],
    ]);
  });

  it('names a partitioned table by its root, and a row that moves as a delete and an insert', async () => {
    const setup = `create table parts (id int, at date, primary key (id, at)) partition by range (at);
      create table parts_old partition of parts for values from ('2020-01-01') to ('2021-01-01');
      create table parts_new partition of parts for values from ('2021-01-01') to ('2022-01-01');
      insert into parts values (1, '2020-05-05'), (2, '2021-05-05')`;
    const seen = await loggedOf(setup, ['parts'], `update parts set at = '2021-06-06'`);
    expect(countsOf(seen)).toEqual([['public.parts', 1, 1, 1, 0]]);
    expect(rowsOf(seen).map(([kind]) => kind)).toEqual(['delete', 'insert', 'update']);
  });

  it('holds what triggers and cascades changed, beside what the statement named', async () => {
    const setup = `create table parents (id int primary key);
      create table children (id int primary key, parent int references parents on delete cascade);
      create table audit (id int generated always as identity primary key, what text);
      create function audited() returns trigger language plpgsql as
        $$ begin insert into audit (what) values (tg_op); return null; end $$;
      create trigger on_parents after delete on parents for each row execute function audited();
      insert into parents values (1); insert into children values (1, 1), (2, 1)`;
    const seen = await loggedOf(setup, ['parents', 'children', 'audit'], 'delete from parents');
    expect(countsOf(seen)).toEqual([
      ['public.audit', 1, 0, 0, 0],
      ['public.children', 0, 0, 2, 0],
      ['public.parents', 0, 0, 1, 0],
    ]);
  });

  it('counts ON CONFLICT, MERGE and a CTE by what they did', async () => {
    const setup = `create table stock (id int primary key, n int); insert into stock values (1, 1), (2, 2)`;
    const change = `begin;
      insert into stock values (1, 5), (3, 3) on conflict (id) do update set n = excluded.n;
      merge into stock using (values (2), (3), (4)) s (id) on s.id = stock.id
        when matched and stock.id = 2 then delete when matched then update set n = 9 when not matched then insert values (s.id, 0);
      with gone as (delete from stock where id = 1 returning id) insert into stock select id + 10, 0 from gone; commit`;
    const seen = await loggedOf(setup, ['stock'], change);
    expect(countsOf(seen)).toEqual([['public.stock', 3, 2, 2, 0]]);
  });

  it('counts each truncated table once, those of a cascade too', async () => {
    const setup = `create table roots (id int primary key); create table leaves (id int primary key references roots);
      insert into roots select generate_series(1, 50); insert into leaves select generate_series(1, 50)`;
    const seen = await loggedOf(setup, ['roots', 'leaves'], 'truncate roots cascade');
    expect(countsOf(seen)).toEqual([
      ['public.leaves', 0, 0, 0, 1],
      ['public.roots', 0, 0, 0, 1],
    ]);
    expect(seen.rows).toEqual([]);
  });

  it('holds nothing of a savepoint that was rolled back, its mark included', async () => {
    const change = `begin; insert into saved values (1); savepoint s; insert into saved values (2);
      select pg_logical_emit_message(true, 'service.action', 'undone'); rollback to s; insert into saved values (3); commit`;
    const seen = await loggedOf('create table saved (id int primary key)', ['saved'], change);
    expect(rowsOf(seen)).toEqual([
      ['insert', null, ['1']],
      ['insert', null, ['3']],
    ]);
    expect(seen.marks).toEqual([]);
  });

  it('arrives with its mark also where nothing changed', async () => {
    const change = `begin; select pg_logical_emit_message(true, 'service.action', 'marked');
      insert into untouched select 1 where false; commit`;
    const seen = await loggedOf('create table untouched (id int primary key)', ['untouched'], change);
    expect(seen).toMatchObject({ tables: [], rows: [], marks: ['marked'] });
  });

  it('keeps two marks at most, only of the transaction itself and under their own prefix', async () => {
    const change = `begin; select pg_logical_emit_message(false, 'service.action', 'at once');
      select pg_logical_emit_message(true, 'service.actions', 'another prefix');
      select pg_logical_emit_message(true, 'service.action', m) from unnest('{first,second,third}'::text[]) m; commit`;
    expect((await loggedOf('', [], change)).marks).toEqual(['first', 'second']);
  });

  it('cuts a long mark so that it is still too long to be one', async () => {
    const seen = await loggedOf('', [], `select pg_logical_emit_message(true, 'service.action', repeat('m', 100000))`);
    expect(seen.marks).toEqual(['m'.repeat(257)]);
  });

  it('keeps the first 20 of 10,000 rows and counts them all', async () => {
    const change = `insert into crowd select n, repeat('y', 100) from generate_series(1, 10000) n`;
    const seen = await loggedOf('create table crowd (id int primary key, body text)', ['crowd'], change);
    expect(countsOf(seen)).toEqual([['public.crowd', 10_000, 0, 0, 0]]);
    expect(rowsOf(seen).map(([, , after]) => after?.[0])).toEqual(
      Array.from({ length: 20 }, (_, at) => String(at + 1)),
    );
  });

  it.each([
    ['int8', `9223372036854775807`],
    ['numeric', `12345678901234567890.12345678901234567890`],
    ['numeric(12,4)', `1.5000`],
    ['numeric', `NaN`],
    ['float8', `0.30000000000000004`],
    ['float8', `-Infinity`],
    ['float4', `3.4028235e+38`],
    ['bool', `t`],
    ['text', `naïve 🤝 "quoted" \\ ''`],
    ['text', ``],
    ['varchar(5)', `null`],
    ['char(4)', `ab  `],
    ['bytea', `\\x00ff10`],
    ['date', `0044-03-15 BC`],
    ['time', `23:59:59.999999`],
    ['timetz', `12:00:00.000001+05:30`],
    ['timestamp', `2026-02-28 23:59:59.123456`],
    ['timestamptz', `2026-02-28 23:59:59.123456+00`],
    ['timestamptz', `infinity`],
    ['interval', `1 year 2 mons 3 days 04:05:06.789012`],
    ['uuid', `a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11`],
    ['json', `{"b": 1,  "a": 1.0}`],
    ['jsonb', `{"a": 1.0, "b": 12345678901234567890}`],
    ['int4[]', `{1,NULL,3}`],
    ['text[]', `{"a b",NULL,"NULL","{}"}`],
    ['int4range', `[1,10)`],
    ['inet', `10.0.0.1/8`],
    ['macaddr', `08:00:2b:01:02:03`],
    ['money', `$1,234.50`],
    ['bit(5)', `10101`],
    ['point', `(1.5,2)`],
    ['xml', `<a b="c"/>`],
    ['tsvector', `'fat':2 'rat':3`],
  ])('keeps a value of %s as the text that the database wrote: %s', async (type, text) => {
    const table = `typed_${log.seen.length}`;
    const literal = `'${text.replaceAll(`''`, `'`).replaceAll(`'`, `''`)}'`;
    const seen = await loggedOf(
      `create table ${table} (v ${type})`,
      [table],
      `insert into ${table} values (${literal})`,
    );
    expect(seen.rows[0]?.new).toEqual([{ text: text.replaceAll(`''`, `'`) }]);
  });

  it('does not write texts by what the database is set to', async () => {
    const name = new URL(logged.connectionString).pathname.slice(1);
    await logged.client
      .query(`alter database ${name} set datestyle = 'German'; alter database ${name} set bytea_output = escape;
      alter database ${name} set timezone = 'Asia/Tokyo'; alter database ${name} set intervalstyle = iso_8601;
      alter database ${name} set extra_float_digits = 0`);
    await log.stop();
    log = followLog(logged);
    const seen = await loggedOf(
      'create table styled (d timestamptz, b bytea, i interval, f float8)',
      ['styled'],
      `insert into styled values ('2026-01-02 03:04:05+00', '\\xff', '1 day', 0.1::float8 + 0.2::float8)`,
    );
    expect(rowsOf(seen)).toEqual([
      ['insert', null, ['2026-01-02 03:04:05+00', '\\xff', '1 day', '0.30000000000000004']],
    ]);
  });

  it('names types: its own by their name, those of the database with their schema', async () => {
    const setup = `create type mood as enum ('sad', 'ok'); create domain cents as int8;
      create table moods (m mood, ms mood[], c cents, j jsonb, a text[])`;
    const seen = await loggedOf(setup, ['moods'], `insert into moods values ('ok', '{sad}', 5, '{}', '{}')`);
    expect(seen.rows[0]?.columns.map(({ type }) => type)).toEqual([
      'public.mood',
      'public._mood',
      'int8',
      'jsonb',
      '_text',
    ]);
  });

  it('leaves out a generated column that is not published, and a table that has changed its columns is described anew', async () => {
    const setup = `create table made (id int primary key, twice int generated always as (id * 2) stored);`;
    const seen = await loggedOf(setup, ['made'], 'insert into made values (4)');
    expect(rowsOf(seen)).toEqual([['insert', null, ['4']]]);
    const change = `begin; insert into made values (5); alter table made add more text; insert into made (id, more) values (6, 'm');
      alter table made rename more to renamed; commit`;
    const altered = await loggedOf('select', [], change);
    expect(altered.rows.map(({ columns }) => columns.map(({ name }) => name))).toEqual([['id'], ['id', 'more']]);
    expect(countsOf(altered)).toEqual([['public.made', 2, 0, 0, 0]]);
  });

  it('keeps the beginning, the length and the digest of a value that is too long', async () => {
    const setup = 'create table too_long (v text)';
    const seen = await loggedOf(
      setup,
      ['too_long'],
      `insert into too_long values (repeat('é', 100000)), (repeat('x', 65536))`,
    );
    expect(seen.rows.map(({ new: after }) => after?.[0])).toEqual([
      {
        text: 'é'.repeat(32_768),
        whole: { bytes: 200_000, sha256: sha256Hex('é'.repeat(100_000)) },
      },
      { text: 'x'.repeat(65_536) },
    ]);
  });

  it('names tables of other schemas, with whatever is in their names', async () => {
    const setup = `create schema "Other s"; create table "Other s"."Tabelle ü" ("__proto__" int, "constructor" int)`;
    const seen = await loggedOf(setup, ['"Other s"."Tabelle ü"'], 'insert into "Other s"."Tabelle ü" values (1, 2)');
    expect(countsOf(seen)).toEqual([['"Other s"."Tabelle ü"', 1, 0, 0, 0]]);
    expect(seen.rows[0]?.columns.map(({ name }) => name)).toEqual(['__proto__', 'constructor']);
  });
});
