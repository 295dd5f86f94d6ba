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

describe('functions', () => {
  it.each([
    ...[
      "pg_read_file('s3cret')",
      "pg_ls_dir('/')",
      'pg_sleep(1)',
      'pg_catalog.pg_sleep(1)',
      'pg_terminate_backend(1)',
      'pg_reload_conf()',
    ],
    ...[
      "pg_logical_emit_message(true, 'a', 's3cret')",
      "pg_notify('a', 's3cret')",
      'pg_advisory_lock(1)',
      'pg_current_xact_id()',
    ],
    ...[
      "pg_logical_slot_get_changes('a', null, null)",
      "pg_drop_replication_slot('a')",
      'pg_switch_wal()',
      'pg_typeof(1)',
      "pg_file_write('a', 'b', true)",
    ],
    ...[
      "lo_import('/s3cret')",
      "lo_export(1, '/s3cret')",
      'lo_unlink(1)',
      'loread(1, 1)',
      'lowrite(1, null)',
      "lo_from_bytea(0, '')",
    ],
    ...[
      "dblink('s3cret', 'a')",
      "dblink_exec('a', 'b')",
      "dblink_connect('s3cret')",
      "public.dblink('a', 'b')",
      "nextval('a')",
      "setval('a', 1)",
    ],
    ...[
      "currval('a')",
      'lastval()',
      "set_config('a', 's3cret', true)",
      "current_setting('a')",
      'txid_current()',
      'version()',
      'inet_server_addr()',
      'inet_client_addr()',
    ],
    ...[
      "query_to_xml('select 1', true, true, '')",
      "table_to_xml('pg_class', true, true, '')",
      "database_to_xml(true, true, '')",
      "cursor_to_xml('a', 1, true, true, '')",
    ],
    ...[
      "schema_to_xml('a', true, true, '')",
      "xpath('a', 'b')",
      "ts_stat('select 1')",
      "ts_rewrite('a', 'select 1')",
      'setseed(0.5)',
      "has_table_privilege('a', 'b')",
    ],
    ...[
      "to_regclass('a')",
      "regclass('pg_class')",
      "obj_description(1, 'a')",
      'current_database()',
      'current_schemas(true)',
      'system_user',
      'collation for (a)',
    ],
    ...[
      'binary_upgrade_set_next_pg_type_oid(1)',
      "heap_page_items('a')",
      '"LOWER"(\'a\')',
      'information_schema._pg_truetypid(null)',
      "public.lower('a')",
      'other.f(1)',
    ],
    ...[
      "a.b.c.lower('s3cret')",
      "copy_file('a')",
      "currtid2('a', 'b')",
      "row_security_active('a')",
      "has_schema_privilege('a', 'b')",
      "f('s3cret')",
      "public.f('s3cret')",
    ],
  ])('%s is called nowhere', (call) => {
    refused(`select ${call} from t`, /call the function/);
    refused(`select 1 from t where a = (select ${call})`, /call the function/);
    refused(`insert into t values (${call})`, /call the function/);
    refused(`delete from t where a = ${call} returning 1`, /call the function/);
    refused(`with x as (select ${call}) select 1 order by 1`, /call the function/);
    refused(`update t set a = 1 from (values (${call})) v`, /call the function/);
  });
  it.each([
    'f()',
    'f() over ()',
    'f(*)',
    'f(variadic a)',
    'f(distinct a order by b)',
    'f(a => 1)',
    'f() within group (order by a)',
  ])('%s is one', (call) => refused(`select ${call} from t`, /call the function f\./));
  it.each([
    'select * from f()',
    'select * from f() with ordinality',
    'select * from rows from (lower(a), f())',
    'select * from t, lateral f(t.a) x',
    'select 1 order by f()',
    'select 1 group by f()',
    'select 1 having f()',
    'select 1 limit f()',
    'select 1 offset f()',
    'select distinct on (f()) 1',
    'select count(*) filter (where f())',
    'select count(*) over (order by f())',
    'select 1 from t window w as (partition by f())',
    'select sum(a) over (rows f() preceding) from t',
    'select a[f()] from t',
    'select a[1:f()] from t',
    'select array[f()]',
    'select row(f())',
    'select case f() when 1 then 1 end',
    'select case when true then f() end',
    'select coalesce(1, f())',
    'select greatest(1, f())',
    'select f() is null',
    'select f() is true',
    'select not f()',
    'select f() collate "C"',
    'select f()::int',
    'select 1 in (1, f())',
    'select f() between 1 and 2',
    'select f() at time zone lower(a) from t',
    'select grouping(f()) from t',
    'select * from a join b on f()',
    'select * from t tablesample system (f())',
    'select * from t tablesample system (1) repeatable (f())',
    'values (1, f())',
    "select json_object('a': f())",
    'select json_array(f())',
    'select json_array(select f())',
    'select json_arrayagg(a order by f()) from t',
    "select json_value(f(), '$')",
    "select json_value(a, '$' passing f() as x) from t",
    "select json_value(a, '$' default f() on empty) from t",
    'insert into t select f()',
    'insert into t values (1) on conflict (f()) do nothing',
    'insert into t values (1) on conflict (a) where f() do nothing',
    'insert into t values (1) on conflict (a) do update set b = f()',
    'insert into t values (1) on conflict (a) do update set b = 1 where f()',
    'insert into t values (1) returning f()',
    'insert into t (a[f()]) values (1)',
    'update t set a[f()] = 1',
    'merge into t using u on f() when matched then delete',
    'merge into t using u on true when matched and f() then delete',
    'merge into t using u on true when matched then update set a = f()',
    'merge into t using u on true when not matched then insert values (f())',
    'with recursive r(n) as (select 1) cycle n set c to f() default 1 using p select 1',
  ])('%s is looked into', (sql) => refused(sql, /call the function f\.|valid SQL/));
});

describe('functions by another name', () => {
  const column = /names no such column/;
  it.each<[string, RegExp]>([
    ["select ('/s3cret'::text).pg_read_file", /read the field pg_read_file/],
    ['select ($1).pg_read_file', /read the field pg_read_file/],
    ['select (lower($1)).pg_ls_dir', /read the field pg_ls_dir/],
    ['select (a).b.pg_ls_dir from t', /read the field b/],
    ['select (a[1]).f from t', /read the field f/],
    ['select a[1].f from t', /read the field f/],
    ["select t.pg_read_file from unnest(array['/s3cret']) t", column],
    ['select t.pg_read_file from unnest(array[$1]) as t(x)', column],
    ['select unnest.pg_read_file from unnest(array[$1])', column],
    ['select 1 from t, unnest(array[t.a]) x where x.pg_ls_dir is not null', column],
    ['select (select t.pg_ls_dir) from unnest(array[$1]) t', column],
    ['select t.pg_ls_dir from unnest(array[$1]) t, (select 1 from unnest(array[1]) t(pg_ls_dir)) z', column],
    ['select t.pg_ls_dir from (select 1 from unnest(array[1]) t(pg_ls_dir)) z, unnest(array[$1]) t', column],
    ['select t.f from rows from (unnest(array[$1])) t', column],
    ['select e.f from json_each($1) e', column],
    // The alias is the column's name only where nothing else names it.
    ['select ts_stat.ts_stat from unnest(array[$1]) as ts_stat(x)', column],
    ['select pg_sleep.pg_sleep from generate_series(1, 2) as pg_sleep(x)', column],
    ['select ts_stat.ts_stat from jsonb_array_elements_text($1) as ts_stat', column],
    ['select ts_stat.ts_stat from json_array_elements($1) ts_stat', column],
    ['delete from t using unnest(array[$1]) as pg_ls_dir(x) where pg_ls_dir.pg_ls_dir = t.a', column],
    ['delete from t using unnest(array[$1]) u where u.pg_ls_dir = t.a', column],
    ['select 1 from current_date d', /anything but a table or a function/],
    ['select 1 from coalesce($1) d', /anything but a table or a function/],
  ])('%s', (sql, saying) => refused(sql, saying));
  it('is no column of a function that the config allows, whose columns nobody knows', () =>
    expect(read('select f.f from own() f', { allowedFunctions: ['own'] }).ok).toBe(false));
  it('a column may have the name of its alias', () =>
    expect(accept('select n.n, e.value from generate_series(1, 3) n, jsonb_array_elements_text($1) e').ok).toBe(true));
  it('may be a field that the config names', () =>
    expect(accept('select (item).sku from t', { allowedFunctions: ['sku'] }).ok).toBe(true));
  it.each(['operator(public.+)', 'operator(other.=)', 'operator("Pg_catalog".+)'])('a %s b is one', (operator) =>
    refused(`select a ${operator} b from t`, /use an operator/),
  );
  it.each([
    'select 1 order by 1 using operator(other.<)',
    'select a operator(other.=) any (array[1]) from t',
    'select a operator(other.=) any (select 1) from t',
    'select operator(other.-) 1',
  ])('%s is one', (sql) => refused(sql, /use an operator of the schema other/));
});
