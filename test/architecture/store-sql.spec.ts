import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { FAILPOINTS } from '#libs/domain/kernel';
import { DEPLOYMENT_TABLES } from '../../libs/infra/src/diagnosis/deployment-tables.js';
import { ROOT } from '../support/service.js';

/** Of the event store itself: the log, and the note which store the rows belong to. */
const isOwn = (table: string): boolean => table.startsWith('event_store.') || table === 'public.known_event_store';
const FOREIGN = Object.keys(DEPLOYMENT_TABLES).filter((table) => !isOwn(table));
/** The schemas of others, and the tables that lie in the schema of everybody, which need no name of one. */
const SCHEMAS = [...new Set(FOREIGN.map((table) => table.split('.')[0]))].filter((name) => name !== 'public');
const TABLES = FOREIGN.flatMap((table) => (table.startsWith('public.') ? table.slice('public.'.length) : []));
const NAMED = new RegExp(`\\b(?:(?:${SCHEMAS.join('|')})"?\\."?[a-z_][\\w.]*|(?:${TABLES.join('|')})\\b)`, 'gi');
/** The names of some begin like that of a schema. */
const isFailpoint = (name: string): boolean => (FAILPOINTS as readonly string[]).includes(name);
const NEXT = 'give the store that SQL by name when it is wired, as GATE_APPEND_FUNCTIONS is (docs/adr/0028)';

/** What a text names of what others have in the database, be it in SQL or beside it. */
const foreignIn = (path: string, text: string): readonly string[] =>
  [...text.matchAll(NAMED)]
    .filter(([name]) => !isFailpoint(name))
    .map(([name]) => `${path} names ${name}, which belongs to another context: ${NEXT}`);

it.each([
  'select stream from gate.append($1, $2)',
  'insert into gate.payloads (owner) values ($1)',
  'perform ledger.seal()',
  'select gate.free_budgets($1)',
  'SELECT body FROM GATE.payloads',
  'select body from "gate"."payloads"',
  'truncate gate.payloads',
  'delete from schema_steps.applied',
  'select sealed from vault_secrets',
  'select check_value from public.vault_key_check',
])('what another context has in the database is found: %s', (sql) => {
  expect(foreignIn('a-store.ts', `const text = '${sql}';`)).toHaveLength(1);
});

it('the event store names nothing that another context has in the database', () => {
  const root = join(ROOT, 'libs/infra/src/event-store');
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (path) => /\.(?:ts|sql)$/.test(path) && !path.includes('.spec.'),
  );
  expect(paths.length).toBeGreaterThan(20);
  expect(paths.flatMap((path) => foreignIn(path, readFileSync(join(root, path), 'utf8')))).toEqual([]);
});
