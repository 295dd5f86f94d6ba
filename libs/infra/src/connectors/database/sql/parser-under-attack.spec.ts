import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { scanSync, loadModule } from 'libpg-query';
import { describe, expect, it } from 'vitest';
import { PgParser } from './pg-parser.js';
import { tokensOf } from './sql-tokens.js';
import { sqlReader } from './testing/sql-reader.js';

const { accept, read, refusalOf } = await sqlReader();

/** Repeated to fill what a statement may hold. */
const filling = (before: string, piece: string, between = '', after = ''): string => {
  const times = Math.floor((65_000 - before.length - between.length) / (piece.length + after.length));
  return before + piece.repeat(times) + between + after.repeat(times);
};

const DEEP: Readonly<Record<string, string>> = {
  'open brackets': filling('select ', '('),
  brackets: filling('select ', '(', '1', ')'),
  'square brackets': filling('select a', '[', '1', ']'),
  arrays: filling('select ', 'array[', '1', ']'),
  sums: filling('select 1', '+1'),
  nots: filling('select ', 'not ', 'a'),
  minuses: filling('select ', '- ', '1'),
  casts: filling('select 1', '::int'),
  'json operators': filling('select a', "->'b'"),
  concatenations: filling('select a', '||b'),
  cases: filling('select ', 'case when a then ', '1', ' end'),
  'sub-selects': filling('select ', '(select ', '1', ')'),
  sources: filling('select 1 from ', '(select 1 from ', 't', ') x'),
  'common tables': filling('', 'with x as (', 'select 1', ') select 1'),
  unions: filling('select 1', ' union select 1'),
  'unions with commas': filling('select 1,1', ' union select 1,1'),
  'unions of values': filling('values (1),(2)', ' except values (1),(2)'),
  joins: filling('select 1 from a', ' cross join a'),
  'joins of joins': filling('select 1 from ', '(', 'a', ' cross join a)'),
  calls: filling('select ', 'abs(', '1', ')'),
  rows: filling('select ', '(1,', '1', ')'),
  'values of values': filling('select ', '(values(', '1', '))'),
  ins: filling('select ', 'a in (', '1', ')'),
  tests: filling('select a', ' isnull'),
  collations: filling('select a', ' collate "C"'),
  zones: filling('select a', ' at time zone b'),
  subscripts: filling('select a', '[1]'),
  'row assignments': filling('', 'with x as (update t set (a,b)=(', 'select 1', ') returning 1) select 1'),
  'nested row assignments': filling(
    'update t set ',
    '(a,b)=(with x as (update t set ',
    'c=1',
    ' returning 1) select 1)',
  ),
  'comments in comments': filling('select 1 ', '/*'),
  pluses: filling('select ', '+', '1'),
  'comments in operators': filling('select ', '+/**/', '1'),
  'comments one after the other': filling('select 1 ', '/**/'),
  'comments that begin': filling('/*', '/*', '', '*/'),
  'stars and bars': filling('/*', '*/*/', '*/'),
  'operators with blanks': filling('select ', '@-@-@-@-@-@-@-@-@-+-+-+-+ ', '1'),
  'long operators': filling('select ', `${'+'.repeat(62)} `, '1'),
  'dollar quotes': filling('select ', '$a$ '),
};

describe('a deep statement', () => {
  it.each(Object.entries(DEEP))('%s: is refused at once', (_, sql) => {
    const before = performance.now();
    expect(read(sql).ok).toBe(false);
    expect(performance.now() - before).toBeLessThan(1_000);
    expect(accept('select 1').facts.kind).toBe('select');
  });

  it.each<[string, string]>([
    ['values', filling('insert into t values (1)', ', (1, 2)')],
    ['a list', filling('select * from t where a in (1', ', 2', ')')],
    ['columns', filling('select a', ', b')],
    ['a long text', filling("select '", '((((', "'")],
    ['a long text in dollars', filling('select $x$', '((((', '$x$')],
    ['a long comment', filling('/*', '((((', '*/ select 1')],
    ['quotes', filling('select ', "''")],
    ['lines of dashes', filling('select 1', `\n${'-'.repeat(99)}`)],
    ['a box of stars', `/${'*'.repeat(200)}\n * a\n ${'*'.repeat(200)}/ select 1`],
    ['fifty conditions', `select * from t where ${'a = 1 and b = 2 or '.repeat(25)}c`],
  ])('%s: flat ones are accepted however long they are', (_, sql) => expect(accept(sql).ok).toBe(true));

  it('of 100 brackets is accepted, of 101 refused', () => {
    const nested = (times: number): string =>
      `select /* ${'-'.repeat(100)} */ ${'('.repeat(times)}1${')'.repeat(times)}`;
    expect(accept(nested(100)).ok).toBe(true);
    expect(refusalOf(nested(101))).toMatch(/nested or chained/);
  });
});

describe('a parser that fails', () => {
  it('is replaced, and reads on', async () => {
    const parser = await PgParser.start();
    const deadly = DEEP['sums'] ?? '';
    expect(parser.parse(deadly)).toEqual({ is: 'unfit' });
    expect(parser.parse('select 1').is).toBe('tree');
    parser.parse(deadly);
    await parser.settled();
    expect(parser.parse('select 1').is).toBe('tree');
  });
  it('says so while none is ready, and comes back', async () => {
    const parser = await PgParser.start();
    const deadly = DEEP['sums'] ?? '';
    parser.parse(deadly);
    parser.parse(deadly);
    expect(parser.parse('select 1').is).toBe('unavailable');
    await parser.settled();
    expect(parser.parse('select 1').is).toBe('tree');
  });
});

/** As many as asked for, the same in every run. */
const chosen = (seed: number): ((below: number) => number) => {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
};

const SEEDS = [
  'with x as (select a, lower(b) from t where c = $1 and d in (1, 2)) select * from x join u using (a) order by 1 limit 3',
  "insert into t (a, b) values (1, 'x''y') on conflict (a) do update set b = excluded.b where t.c returning *",
  'update public.t set a = a + 1, b[1] = $1 from u where t.id = u.id returning with (old as o) o.a',
  'delete from "T" using u where exists (select 1 from v where v.x = u.x) returning 1',
  'merge into t using u on t.a = u.a when matched and b then update set c = 1 when not matched then insert (a) values (1)',
  "select e'\\'', U&'d\\0061t', $q$ ' $q$, count(*) filter (where a) over (partition by b), (select array[1, 2])[1] from t -- end",
  "select case when a then 1 else 2 end, b::numeric(3, 1), c ->> 'd', json_object('a': 1) from t, lateral unnest(t.x) y(z) /* c */",
];
const PIECES = [
  ...[
    '(',
    ')',
    '[',
    ']',
    ',',
    ';',
    "'",
    '"',
    '$$',
    '$a$',
    '--',
    '/*',
    '*/',
    '\\',
    '.',
    '::',
    '*',
    '=',
    '$1',
    '1',
    "e'",
    "U&'",
    '\n',
    'é',
    '😀',
  ],
  ...[
    ' select ',
    ' from ',
    ' where ',
    ' union ',
    ' delete ',
    ' update ',
    ' set ',
    ' into ',
    ' with ',
    ' as ',
    ' case ',
    ' end ',
    ' not ',
    ' for update',
    ' pg_catalog.',
    ' null ',
  ],
];

function* mutations(count: number): Generator<string> {
  const choose = chosen(20_260_101);
  const of = <Item>(items: readonly Item[]): Item | undefined => items[choose(items.length)];
  for (let index = 0; index < count; index += 1) {
    let sql = of(SEEDS) ?? '';
    for (let change = choose(4); change >= 0; change -= 1) {
      const [at, other] = [choose(sql.length + 1), of(SEEDS) ?? ''];
      const length = choose(12);
      const piece = [
        of(PIECES) ?? '',
        '',
        sql.slice(at, at + length),
        other.slice(choose(other.length)),
        String.fromCharCode(choose(0x250)),
      ];
      sql = sql.slice(0, at) + (of(piece) ?? '') + sql.slice(at + choose(2) * length);
    }
    yield sql;
  }
}

describe('mutated statements', () => {
  it('are read or refused, and nothing is thrown', () => {
    let accepted = 0;
    for (const sql of mutations(5_000)) {
      const result = read(sql, { tool: 'query' });
      if (!result.ok) continue;
      accepted += 1;
      expect(result).toMatchObject({ isRead: true, isDestructive: false, writes: [], facts: { kind: 'select' } });
    }
    expect(accepted).toBeGreaterThan(100);
  });

  it('are cut into pieces where PostgreSQL cuts them', async () => {
    await loadModule();
    let compared = 0;
    for (const sql of mutations(5_000)) {
      const ours = [...tokensOf(sql)];
      const theirs = scanned(sql);
      if (theirs === null) continue;
      compared += 1;
      expect([sql, bracketsIn(ours.map(({ kind, text }) => (kind === 'mark' ? text : '')))]).toEqual([
        sql,
        bracketsIn(theirs),
      ]);
    }
    expect(compared).toBeGreaterThan(1_000);
  });
});

const bracketsIn = (texts: readonly string[]): string => texts.filter((text) => /^[()[\],]$/.test(text)).join('');

const scanned = (sql: string): readonly string[] | null => {
  // A scanner of their own: it refuses what is no token.
  if (sql.includes('\u0000')) return null;
  try {
    return scanSync(sql)
      .tokens.filter(({ tokenType }) => tokenType < 256)
      .map(({ tokenType }) => String.fromCharCode(tokenType));
  } catch {
    return null;
  }
};

const REGRESSION = join(process.env['VECTORS_DIR'] ?? '/nowhere', 'postgres-regress');

describe.skipIf(!existsSync(REGRESSION))('PostgreSQL’s own regression statements (VECTORS_DIR)', () => {
  it('are each refused, or accepted with facts that agree', () => {
    const files = readdirSync(REGRESSION, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.sql'),
    );
    for (const file of files) {
      for (const sql of readFileSync(join(REGRESSION, file), 'utf8').split(/;\s*\n/)) {
        const result = read(sql, { tool: 'query', allowCatalog: true });
        if (result.ok) expect([sql, result.writes, result.facts.kind]).toEqual([sql, [], 'select']);
      }
    }
    expect(files.length).toBeGreaterThan(0);
  });
});
