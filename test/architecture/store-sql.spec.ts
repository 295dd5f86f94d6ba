import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

/** The schemas of the event store itself: the log, and the note which store the rows belong to. */
const OWN = ['event_store', 'public', 'pg_catalog'];
const NAMED = /\b(?:from|into|join|update|table|perform|function|call)\s+([a-z_]+)\.([a-z_]+)/g;
const NEXT = 'give the store that SQL by name when it is wired, as GATE_APPEND_FUNCTIONS is (docs/adr/0028)';

/** What SQL in a text names of other schemas than the event store's. */
const foreignIn = (path: string, text: string): readonly string[] =>
  [...text.matchAll(NAMED)]
    .filter(([, schema = '']) => !OWN.includes(schema))
    .map(([, schema, name]) => `${path} names ${schema}.${name}, which belongs to another context: ${NEXT}`);

it.each([
  'select stream from gate.append($1, $2)',
  'insert into gate.payloads (owner) values ($1)',
  'perform ledger.seal()',
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
