import { describe, expect, it } from 'vitest';
import type { SqlRules } from './index.js';
import { sqlReader } from './testing/sql-reader.js';

const { accept, read, refusalOf } = await sqlReader();
/** What these name as a literal, and no refusal may repeat. */
const SECRET = 's3cret';
const GENEROUS: Partial<SqlRules> = { allowTruncate: true, allowCatalog: true };

const refused = (sql: string, saying: RegExp, rules: Partial<SqlRules> = GENEROUS): void => {
  const refusal = refusalOf(sql, rules);
  expect(refusal).toMatch(saying);
  expect(refusal).not.toContain(SECRET);
  expect(refusal).toMatch(/\.$/);
};

describe('text', () => {
  it('holds at most 64 KiB in UTF-8', () => {
    const filled = (text: string, times: number): string => `select '${text.repeat(times)}'`;
    expect(accept(filled('a', 65_527)).ok).toBe(true);
    refused(filled('a', 65_528), /longer than 65536 bytes/);
    refused(filled('é', 32_764), /longer than 65536 bytes/);
    refused(filled('😀', 16_382), /longer than 65536 bytes/);
  });
  it.each(['', ' ', ';', ';;', '-- a', '/* a */'])('%j is no statement', (sql) =>
    refused(sql, /no statement|valid SQL/),
  );
  it.each(['select 1; select 2', 'select 1; delete from t', 'begin; select 1', "select 1;;select 's3cret'"])(
    '%s is more than one',
    (sql) => refused(sql, /more than one statement/),
  );
  it.each(['\u0000', '\u0001', '\u0008', '\u000b', '\u000c', '\u001b', '\u007f'])(
    '%j is refused anywhere',
    (character) => {
      refused(`select 1${character}`, /control characters/);
      refused(`select '${character}'`, /control characters/);
      refused(`select 1 -- ${character}`, /control characters/);
    },
  );
  it.each(['\ud800', '\udc00', 'a\udfffb'])('half of a pair is refused (%#)', (half) =>
    refused(`select '${half}'`, /surrogate/),
  );
  it.each(['\t', '\n', '\r\n', '\u00a0', '\u2028'])('%j may stand in a literal', (character) =>
    expect(accept(`select '${character}'`).ok).toBe(true),
  );
  it.each([
    'selec 1',
    'select 1 from',
    "select '",
    'select "',
    'select $$',
    'select /*',
    'select 1)',
    '\\d',
    'select ?',
    'drop',
    '{}',
    'delete t',
    'update t',
  ])('%s is no SQL', (sql) => {
    const result = read(sql);
    expect(result.ok).toBe(false);
  });
});

describe('roots', () => {
  it.each([
    ...[
      'begin',
      'start transaction',
      'commit',
      'end',
      'rollback',
      'abort',
      'savepoint a',
      'release a',
      'rollback to a',
    ],
    ...[
      "prepare transaction 's3cret'",
      "commit prepared 's3cret'",
      'set a.b = 1',
      "set role 's3cret'",
      'set local search_path = a',
    ],
    ...[
      'reset all',
      'set session authorization x',
      'set transaction read write',
      'set constraints all deferred',
      'show all',
    ],
    ...[
      "do $$ begin perform 's3cret'; end $$",
      'call p(1)',
      "copy t to '/s3cret'",
      "copy t from program 's3cret'",
      'copy t to stdout',
    ],
    ...[
      'copy (delete from t returning *) to stdout',
      'explain select 1',
      'explain analyze delete from t',
      'prepare a as select 1',
    ],
    ...[
      'execute a',
      'deallocate all',
      'lock t',
      'listen a',
      'unlisten *',
      "notify a, 's3cret'",
      "load 's3cret'",
      'discard all',
    ],
    ...[
      'declare a cursor for select 1',
      'fetch all from a',
      'move a',
      'close a',
      'vacuum',
      'analyze t',
      'checkpoint',
      'cluster',
    ],
    ...[
      'reindex table t',
      'refresh materialized view a',
      'grant all on t to public',
      'revoke all on t from public',
      'grant a to b',
    ],
    ...[
      'create table a (b int)',
      'create table a as select 1',
      'create view a as select 1',
      'create index on t (a)',
      'drop table t',
    ],
    ...[
      'alter table t add a int',
      'create schema a',
      'create extension dblink',
      "create role a password 's3cret'",
      'drop owned by a',
    ],
    ...[
      "alter role a password 's3cret'",
      'alter system set a = 1',
      'alter database a set b = 1',
      'create database a',
      'drop database a',
    ],
    ...[
      'create function f() returns int language sql as $$ select 1 $$',
      'alter function f() volatile',
      'create trigger a before insert on t execute function f()',
    ],
    ...[
      'create rule a as on select to t do instead nothing',
      'comment on table t is null',
      "security label on table t is 's3cret'",
    ],
    ...[
      'create publication a',
      "create subscription a connection 's3cret' publication b",
      'create server a foreign data wrapper b',
    ],
    ...[
      'import foreign schema a from server b into c',
      'create policy a on t',
      'alter table t disable row level security',
      'create sequence a',
    ],
    ...[
      'create type a as enum ()',
      'create domain a as int',
      'reassign owned by a to b',
      'create cast (int as text) without function',
    ],
    ...[
      'create materialized view a as select 1',
      'create temp table a (b int)',
      'create operator + (function = f)',
      'alter default privileges grant all on tables to a',
    ],
  ])('%s is refused', (sql) => refused(sql, /^A statement may not .+\. Send one plain SELECT/));

  it.each([
    ['truncate t', { tool: 'execute', allowTruncate: false }, /TRUNCATE a table/],
    ['truncate t', { tool: 'named', allowTruncate: false }, /TRUNCATE a table/],
    ['truncate t', { tool: 'query', allowTruncate: true }, /TRUNCATE in a query/],
    ['truncate t cascade', { allowTruncate: true }, /truncate: behavior/],
    ['truncate t restart identity', { allowTruncate: true }, /truncate: restart seqs/],
    ['truncate other.t', { allowTruncate: true }, /schema other/],
    ['truncate pg_catalog.pg_class', { allowTruncate: true, allowCatalog: true }, /change the catalog/],
  ] satisfies [string, Partial<SqlRules>, RegExp][])('%s with %j is refused', (sql, rules, saying) =>
    refused(sql, saying, rules),
  );
  it.each(['execute', 'named'] as const)('TRUNCATE is accepted by %s where the config says so', (tool) =>
    expect(accept('truncate t', { tool, allowTruncate: true })).toMatchObject({
      facts: { kind: 'truncate', tables: ['public.t'] },
      isDestructive: true,
      isRead: false,
    }),
  );
});

describe('a query', () => {
  it.each([
    'insert into t values (1)',
    'update t set a = 1 where b = 2',
    'delete from t where a = 1',
    'merge into t using u on true when matched then do nothing',
    'with d as (delete from t returning *) select * from d',
    'with a as (with b as (update t set x = 1 returning *) select * from b) select * from a',
    'select (with d as (delete from t returning 1) select * from d)',
    'select 1 where exists (with i as (insert into t values (1) returning 1) select * from i)',
  ])('%s changes rows and is refused', (sql) => refused(sql, /change rows in a query/, { tool: 'query' }));
  it.each([
    'for update',
    'for no key update',
    'for share',
    'for key share',
    'for update of t nowait',
    'for update skip locked',
  ])('%s locks rows and is refused', (clause) => {
    refused(`select * from t ${clause}`, /lock rows in a query/, { tool: 'query' });
    refused(`select * from (select * from t ${clause}) x`, /lock rows in a query/, { tool: 'query' });
  });
});

describe('tables', () => {
  it.each([
    'select * from other.t',
    'select * from "Public".t',
    'select * from "public ".t',
    'insert into other.t values (1)',
    'update other.t set a = 1',
    'delete from other.t',
    'delete from t using other.t u',
    'merge into other.t using t on true when matched then delete',
    'merge into t using other.t u on true when matched then delete',
    'with x as (select * from other.t) select 1',
    'with t as (select 1) select * from other.t',
    'select (select 1 from other.t)',
    'select 1 from pg_temp.t',
    'select 1 from pg_toast.t',
  ])('%s leaves the schemas', (sql) => refused(sql, /name the schema/));
  it.each(['select 1 from a.public.t', 'delete from a.public.t'])('%s names a database', (sql) =>
    refused(sql, /name a database/),
  );
  it.each([
    'select * from pg_class',
    'select * from pg_authid',
    'select * from PG_SHADOW',
    'delete from pg_largeobject',
    'select 1 from t, pg_stat_activity',
  ])('%s would be looked for in the catalog', (sql) => refused(sql, /without its schema/));
  it.each(['pg_catalog.pg_class', 'information_schema.tables'])(
    '%s is read by query alone, where the config says so',
    (table) => {
      const sql = `select * from ${table}`;
      expect(accept(sql, { tool: 'query', allowCatalog: true }).facts.tables).toEqual([table]);
      refused(sql, /read the catalog\./, { tool: 'query' });
      refused(sql, /read the catalog here/, { tool: 'execute', allowCatalog: true });
      refused(sql, /read the catalog here/, { tool: 'named', allowCatalog: true });
      refused(sql, /read the catalog\./, { tool: 'query', schemas: ['pg_catalog', 'information_schema'] });
      refused(`delete from ${table}`, /change the catalog/, {
        allowCatalog: true,
        schemas: ['pg_catalog', 'information_schema'],
      });
    },
  );
  it('without a schema lie in the first one', () => {
    const rules = { schemas: ['sales', 'Odd One'] };
    expect(accept('select * from t, sales.t u, "Odd One".t v', rules).facts.tables).toEqual(['"Odd One".t', 'sales.t']);
    refused('select * from public.t', /schema public/, rules);
  });
  it('that are named beyond measure are refused', () => {
    const many = Array.from({ length: 120 }, (_, index) => `${'a'.repeat(58)}${String(index)}`).join(', ');
    refused(`select 1 from ${many}`, /that many tables/);
  });
});

describe('types, collations and samples', () => {
  it.each([
    ...[
      'regclass',
      'regproc',
      'regprocedure',
      'regoper',
      'regoperator',
      'regtype',
      'regrole',
      'regnamespace',
      'regconfig',
      'regdictionary',
      'regcollation',
      'regdatabase',
    ],
    ...[
      '_regclass',
      '__regclass',
      'regclass[]',
      'pg_catalog.regclass',
      '"regclass"',
      'REGCLASS',
      'aclitem',
      'pg_class',
      'pg_authid',
      '_pg_authid',
      'pg_node_tree',
    ],
  ])('a cast to %s tells of the catalog', (type) => {
    refused(`select 's3cret'::${type}`, /use the type/);
    refused(`select cast(a as ${type}) from t`, /use the type/);
    refused(`select * from json_to_record($1) as x(a ${type})`, /use the type/);
    refused(`select * from rows from (json_to_record($1) as (a ${type})) x`, /use the type/);
    refused(`select json_object('a': 1 returning ${type})`, /use the type/);
  });
  it.each(["select regclass 's3cret'", "select regtype 's3cret'"])('%s is a cast', (sql) =>
    refused(sql, /use the type/),
  );
  it.each<[string, RegExp]>([
    ["select 'a'::other.t", /type of the schema other/],
    ["select 'a'::information_schema.sql_identifier", /type of the schema information_schema/],
    ["select 'a'::a.public.t", /type of the schema a/],
    ['select a collate other."C" from t', /collation of the schema other/],
    ['insert into t values (1) on conflict (a collate other.b) do nothing', /collation of the schema other/],
    ['select * from json_to_record($1) as x(a text collate other.b)', /collation of the schema other/],
    ['insert into t values (1) on conflict (a text_ops) do nothing', /opclass/],
    ['select * from t tablesample system_rows(1)', /sample rows by system_rows/],
    ['select * from t tablesample other.bernoulli(1)', /sample rows by other\.bernoulli/],
  ])('%s', (sql, saying) => refused(sql, saying));
});

describe('forms', () => {
  it.each<[string, RegExp]>([
    ['select 1 into x', /SELECT INTO/],
    ['select * into temp x from t', /SELECT INTO/],
    ['with a as (select 1) select * into x from a', /SELECT INTO/],
    ['update t set a = 1 where current of c', /WHERE CURRENT OF/],
    ['delete from t where current of c', /WHERE CURRENT OF/],
    ['update t set (a, b) = (1, 2)', /several columns/],
    ['update t set (a, b) = (select 1, 2)', /several columns/],
    ['update t set x = 1, (a, b) /* c */ = row(1, 2)', /several columns/],
    ['insert into t values (1) on conflict (a) do update set (b) = row(1)', /several columns/],
    ['merge into t using u on true when matched then update set (a, b) = (1, 2)', /several columns/],
    ["select * from json_table($1, '$' columns (a int)) j", /JSON_TABLE/],
    ["select * from xmltable('/a' passing $1 columns b text) x", /XMLTABLE/],
    ["select xmlparse(document 's3cret')", /XML/],
    ['select xmlelement(name a)', /XML/],
    ['select xmlforest(a) from t', /XML/],
    ['select xmlserialize(content a as text) from t', /XML/],
    ["select xmlpi(name a, 's3cret')", /XML/],
    ['select a is document from t', /XML/],
    ["select json('{}')", /JSON\(\)/],
    ['select json_scalar(1)', /JSON_SCALAR/],
    ['select json_serialize(a) from t', /JSON_SERIALIZE/],
    ['select * from t for update of public.t', /valid SQL|name with a schema/],
  ])('%s', (sql, saying) => refused(sql, saying));

  it('names what it refuses in at most 63 bytes, on one line', () => {
    for (const name of ['é'.repeat(31), '"a\nb"', `"${'😀'.repeat(15)}"`]) {
      const refusal = refusalOf(`select * from ${name}.t`);
      expect(Buffer.byteLength(/schema (.*)\. Name/u.exec(refusal)?.[1] ?? 'x'.repeat(99))).toBeLessThanOrEqual(65);
      expect(refusal).not.toMatch(/\n/);
    }
  });
});
