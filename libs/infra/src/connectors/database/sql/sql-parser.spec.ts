import { describe, expect, it } from 'vitest';
import type { SqlRules } from './index.js';
import { sqlReader } from './testing/sql-reader.js';

const { accept, refusalOf } = await sqlReader();

describe('facts: the kind of a statement', () => {
  it.each([
    ['select 1', 'select'],
    ['values (1), (2)', 'select'],
    ['table orders', 'select'],
    ['select 1 union all select 2 order by 1', 'select'],
    ['insert into orders default values', 'insert'],
    ['update orders set a = 1', 'update'],
    ['delete from orders', 'delete'],
    ['merge into orders o using news n on o.id = n.id when matched then delete', 'merge'],
    ['/* a */ select 1 -- b\n;;', 'select'],
    ['with d as (delete from orders returning *) select * from d', 'delete'],
    ['with d as (delete from orders returning *) insert into archive select * from d', 'delete'],
    ['with i as (insert into a values (1)), u as (update b set x = 1) select 1', 'update'],
    ['select * from (with i as (insert into a values (1) returning *) select * from i) x', 'insert'],
  ])('%s is a %s', (sql, kind) => expect(accept(sql).facts.kind).toBe(kind));
});

describe('facts: tables', () => {
  it.each<[string, string[]]>([
    ['select 1', []],
    ['select * from orders', ['public.orders']],
    ['select * from ORDERS', ['public.orders']],
    ['select * from "Orders"', ['public.Orders']],
    ['select * from public.b, a join c on true', ['public.a', 'public.b', 'public.c']],
    ['select * from orders o, orders p', ['public.orders']],
    ['select * from only orders', ['public.orders']],
    ['select * from "or.ders"', ['public."or.ders"']],
    ['select * from "public.orders"', ['public."public.orders"']],
    ['select * from "a""b"', ['public."a""b"']],
    ['select * from "two words"', ['public."two words"']],
    ['select * from größe', ['public.größe']],
    ['select * from U&"d\\0061t"', ['public.dat']],
    ['select (select a from inner_one) from outer_one', ['public.inner_one', 'public.outer_one']],
    [
      'select 1 where exists (select from e) and 1 in (select 1 from i) and 1 = any (select 1 from n)',
      ['public.e', 'public.i', 'public.n'],
    ],
    ['select * from a, lateral (select * from b where b.x = a.x) c', ['public.a', 'public.b']],
    ['select 1 from a union select 1 from b except select 1 from c', ['public.a', 'public.b', 'public.c']],
    [
      'insert into a select * from b on conflict (id) do update set x = (select 1 from c)',
      ['public.a', 'public.b', 'public.c'],
    ],
    [
      'update a set x = 1 from b where exists (select from c) returning (select 1 from d)',
      ['public.a', 'public.b', 'public.c', 'public.d'],
    ],
    ['delete from a using b where a.x = b.x', ['public.a', 'public.b']],
    [
      'merge into a using (select * from b) n on a.x = n.x when matched then update set x = (select 1 from c)',
      ['public.a', 'public.b', 'public.c'],
    ],
    ['select * from a tablesample system (1)', ['public.a']],
    ['select array(select x from a), json_array(select x from b)', ['public.a', 'public.b']],
    ['select * from a limit (select 1 from b) offset (select 1 from c)', ['public.a', 'public.b', 'public.c']],
    [
      'select count(*) filter (where x in (select 1 from b)) over (order by (select 1 from c)) from a',
      ['public.a', 'public.b', 'public.c'],
    ],
    ['values ((select 1 from a))', ['public.a']],
    ['select case when true then (select 1 from a) else (select 1 from b) end', ['public.a', 'public.b']],
  ])('%s reads %j', (sql, tables) => expect(accept(sql).facts.tables).toEqual(tables));
});

describe('facts: common table expressions are no tables', () => {
  it.each<[string, string[]]>([
    ['with orders as (select 1) select * from orders', []],
    ['with x as (select * from x) select * from x', ['public.x']],
    ['with recursive x as (select 1 union select * from x) select * from x', []],
    ['with a as (select 1), b as (select * from a) select * from b', []],
    ['with a as (select * from b), b as (select 1) select * from a', ['public.b']],
    ['with recursive a as (select * from b), b as (select 1) select * from a', []],
    ['with x as (select 1) select * from public.x', ['public.x']],
    ['with x as (select 1) select * from X', []],
    ['with x as (select 1) select * from "X"', ['public.X']],
    ['select * from (with x as (select 1) select * from x) y, x', ['public.x']],
    ['with x as (select 1) select * from (with x as (select * from x) select * from x) y', []],
    ['with x as (select 1) select (select 1 from x)', []],
    ['with x as (select 1) (select * from x) union (select * from x)', []],
    ['(with x as (select 1) select * from x) union select * from x', ['public.x']],
    ['with x as (select 1) insert into x select * from x', ['public.x']],
    ['insert into x with x as (select 1) select * from x', ['public.x']],
    ['with x as (select 1) update x set a = 1', ['public.x']],
    ['with x as (select 1) update t set a = 1 from x', ['public.t']],
    ['with x as (select 1) delete from x', ['public.x']],
    ['with x as (select 1) delete from t using x', ['public.t']],
    ['with x as (select 1) merge into x using x on true when matched then do nothing', ['public.x']],
    ['with x as (select 1) merge into t using x on true when matched then delete', ['public.t']],
    ['with x as (insert into t select * from x returning *) select * from x', ['public.t', 'public.x']],
  ])('%s reads %j', (sql, tables) => expect(accept(sql).facts.tables).toEqual(tables));
});

describe('facts: functions', () => {
  it.each<[string, string[]]>([
    ['select lower(a), LOWER(a), upper(b) from t', ['lower', 'upper']],
    ['select pg_catalog.lower(a) from t', ['lower']],
    ['select count(*), sum(a) over (), extract(year from b), trim(c) from t', ['btrim', 'count', 'extract', 'sum']],
    ['select * from generate_series(1, 3) g(n)', ['generate_series']],
    ['select coalesce(a, 1), nullif(a, 1), greatest(a, 1), current_user, current_date from t', []],
    ["select json_object('a': 1), json_value(a, '$.b') from t", ['json_object', 'json_value']],
    ['select a from t order by md5(a)', ['md5']],
    ['insert into t values (now()) returning to_json(a)', ['now', 'to_json']],
    ['select * from rows from (unnest(array[1]), json_to_record(a) as (x int)) r', ['json_to_record', 'unnest']],
  ])('%s calls %j', (sql, functions) => expect(accept(sql).facts.functions).toEqual(functions));

  it('names an allowed one as the statement does', () => {
    const allowed = { allowedFunctions: ['price_of', 'public.tax', 'public."Odd.One"'] };
    const { functions } = accept('select price_of(1), public.tax(2), public."Odd.One"()', allowed).facts;
    expect(functions).toEqual(['price_of', 'public."Odd.One"', 'public.tax']);
  });
  it.each([
    'public.price_of(1)',
    'tax(1)',
    '"PRICE_OF"(1)',
    '"public.tax"(1)',
    'pg_catalog.price_of(1)',
    'other.tax(1)',
  ])('%s is none of them', (call) =>
    expect(refusalOf(`select ${call}`, { allowedFunctions: ['price_of', 'public.tax'] })).toMatch(/call the function/),
  );
});

describe('facts: WHERE and parameters', () => {
  it.each<[string, boolean]>([
    ['update t set a = 1 where id = 1', true],
    ['update t set a = 1', false],
    ['delete from t where id = 1', true],
    ['delete from t', false],
    ['delete from t using u', false],
    ['select 1 where true', false],
    ['insert into t select 1 where true', false],
    ['insert into t values (1) on conflict (a) do update set a = 1 where true', false],
    ['with d as (delete from t where a = 1) select 1', true],
    ['with d as (delete from t) update u set a = 1 where id = 1', false],
    ['with d as (delete from t where a = 1) update u set a = 1 where id = 1', true],
  ])('%s: has_where is %s', (sql, has) => expect(accept(sql).facts.has_where).toBe(has));

  it.each<[string, number]>([
    ['select 1', 0],
    ['select $1', 1],
    ['select $2, $1, $2::int', 2],
    ["select '$3', $1", 1],
    ['select 1 limit $1 offset $2', 2],
  ])('%s has %i', (sql, parameters) => {
    const read = accept(sql);
    expect([read.parameters, read.facts.is_parameterized]).toEqual([parameters, parameters > 0]);
  });
  it.each(['select $2', 'select $1, $3', 'select $0', 'select $99999', 'select $2147483648'])('%s is refused', (sql) =>
    expect(refusalOf(sql)).toMatch(/parameter|valid SQL/),
  );
});

describe('writes', () => {
  it.each<[string, [string, string[]][]]>([
    ['select * from t', []],
    ['insert into t values (1)', [['public.t', ['insert']]]],
    ['insert into t values (1) on conflict do nothing', [['public.t', ['insert']]]],
    ['insert into t values (1) on conflict (a) do update set a = 2', [['public.t', ['insert', 'update']]]],
    ['update t set a = 1 from u', [['public.t', ['update']]]],
    ['delete from t using u', [['public.t', ['delete']]]],
    [
      'merge into t using u on true when matched and a then update set a = 1 when matched then delete when not matched then insert values (1)',
      [['public.t', ['insert', 'update', 'delete']]],
    ],
    ['merge into t using u on true when matched then do nothing', [['public.t', []]]],
    [
      'with d as (delete from b), i as (insert into a values (1)) update b set x = 1',
      [
        ['public.a', ['insert']],
        ['public.b', ['update', 'delete']],
      ],
    ],
  ])('%s', (sql, writes) => expect(accept(sql).writes).toEqual(writes.map(([table, kinds]) => ({ table, kinds }))));
  it('of a TRUNCATE are its tables', () =>
    expect(accept('truncate b, only a', { allowTruncate: true }).writes).toEqual([
      { table: 'public.a', kinds: ['truncate'] },
      { table: 'public.b', kinds: ['truncate'] },
    ]));

  it.each<[string, boolean, boolean]>([
    ['select 1', true, false],
    ['select * from t for update', false, false],
    ['insert into t values (1)', false, false],
    ['update t set a = 1 where true', false, false],
    ['update t set a = 1', false, true],
    ['delete from t where id = 1', false, true],
    ['with d as (delete from t where id = 1) select 1', false, true],
    ['with u as (update t set a = 1) select 1', false, true],
    ['merge into t using u on true when matched then delete', false, true],
    ['merge into t using u on true when matched then update set a = 1', false, false],
    ['insert into t values (1) on conflict (a) do update set a = 2', false, false],
  ])('%s: isRead %s, isDestructive %s', (sql, isRead, isDestructive) =>
    expect(accept(sql)).toMatchObject({ isRead, isDestructive }),
  );
  it.each<[string, boolean]>([
    ['select 1', false],
    ['delete from t returning *', true],
    ['insert into t values (1) returning id', true],
    ['update t set a = 1 returning with (old as o, new as n) o.a, n.a', true],
    ['merge into t using u on true when matched then delete returning merge_action(), t.*', true],
    ['with d as (delete from t returning *) insert into u select * from d', false],
  ])('%s: hasReturning %s', (sql, has) => expect(accept(sql).hasReturning).toBe(has));
});

describe('what people write is accepted', () => {
  const rules: Partial<SqlRules> = { tool: 'query' };
  it.each([
    "select distinct on (a) a, 0, -1.5, b'01', null, true from t order by a using <, b desc nulls last",
    "select a::numeric(10, 2), cast(b as text[]), interval '1' day, date '2026-01-01', c::status, d::public.status from t",
    'select t.*, t.a, public.t.b from t where (a, b) = (1, 2) and a between 1 and 2 and b not in (1, 2)',
    "select a like 'x%' escape '!', a ilike b, a similar to b, a ~ b, a is distinct from b, a is not null, a is true from t",
    'select a[1], a[1:2], (array_agg(b))[1], array[[1], [2]] from t group by a',
    'select count(*) filter (where a), rank() over (partition by b order by c rows between 1 preceding and current row) from t',
    'select a, grouping(a) from t group by grouping sets ((a), ()), rollup (b), cube (c) having sum(d) > 1 window w as (order by a)',
    'with recursive r(n) as (select 1 union all select n + 1 from r) search depth first by n set s cycle n set c using p select * from r',
    'select * from a natural join b left join c using (x) as j full join d on true cross join (values (1)) v(y)',
    'select * from json_to_recordset($1) as r(a int, b text) join unnest(array[1]) with ordinality u(x, n) on true',
    "select e.key, e.value from t, json_each(t.j) e where t.j @> '{}' and t.j ->> 'a' = 'b' and t.j ? 'c'",
    'select a operator(pg_catalog.+) b, a at time zone \'utc\', a collate "C", a collate pg_catalog."C" from t',
    "select percentile_cont(0.5) within group (order by a), string_agg(distinct b, ',' order by b) from t",
    'select * from t tablesample bernoulli (1) repeatable (2) order by a fetch first 3 rows with ties',
    "select json_object('a': 1 absent on null returning jsonb), json_arrayagg(a order by b), a is json object from t",
    'select make_interval(days => 1), concat(variadic array[1]), row(1, 2), (select 1), exists (select)',
    'select (json_each(a)).* from t',
    'select substring(a from 1 for 2), overlay(a placing b from 1), position(a in b), trim(both from a), normalize(a) from t',
    '(select 1) union (select 2) intersect select 3 limit all',
  ])('%s', (sql) => expect(accept(sql, rules).isRead).toBe(true));

  it.each([
    'insert into t (a, b[1], c.d) overriding system value values (default, 1, 2), (3, 4, 5)',
    'insert into t as x select 1 on conflict (a, lower(b) collate "C") where c do update set a = excluded.a where x.b',
    'insert into t values (1) on conflict on constraint t_pkey do nothing',
    'update only t as x set a[1] = 1, b = default, c.d = $1 where x.id = $2',
    'select * from t for no key update of t nowait',
    'select * from t for share skip locked',
    'with moved as materialized (delete from a returning *) insert into b select * from moved',
  ])('%s', (sql) => expect(accept(sql).ok).toBe(true));
});
