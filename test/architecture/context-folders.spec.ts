import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ROOT } from '../support/service.js';

/** The bounded contexts, as docs/architecture.md lists them. Each has this one name in every app and lib. */
const CONTEXTS = [
  'agents',
  'approvals',
  'connectors',
  'events',
  'gate',
  'insights',
  'ledger',
  'people',
  'policies',
  'replays',
  'webhooks',
  'witness',
];

/** The folders of each tree that serve all contexts. */
const SHARED: Readonly<Record<string, readonly string[]>> = {
  'apps/api/src': ['console', 'health', 'http', 'lists', 'mcp', 'openapi', 'pages'],
  'apps/console/src': ['design', 'kernel', 'kit', 'shell'],
  'apps/projector/src': ['rebuild'],
  'apps/worker/src': [],
  'libs/domain/src': ['kernel'],
  'libs/infra/src': [
    'backup',
    'commands',
    'config',
    'demo-database',
    'deployment',
    'diagnosis',
    'egress',
    'event-store',
    'failpoints',
    'idempotency',
    'leases',
    'logging',
    'mail',
    'metrics',
    'postgres',
    'read-models',
    'redis',
    'runtime',
    'schemas',
    'vault',
  ],
  'libs/infra/src/read-models': ['schema'],
};

/** Folders that serve one context and do not have its name, each with its reason. */
const APART: readonly (readonly [path: string, reason: string])[] = [
  [
    'libs/infra/src/connector-health',
    'the rows of `connectors.health`: libs/infra/src/connectors holds what calls other systems, and no database',
  ],
  ['libs/infra/src/tool-definitions', 'the rows of `connectors.tool_definitions`, for the same reason'],
  [
    'libs/infra/src/database-set-up',
    'the SQL that the owner of a database runs: the command line prints it, which knows no type of connector',
  ],
];

/**
 * By how a file's name begins: the context that it belongs to. Not in `libs/domain`, where the rules of an approval are
 * rules of its action, nor in the settings of an organization.
 */
const OWNED: readonly (readonly [name: RegExp, context: string])[] = [
  [/^(list-|postgres-)?approvals?[-.]/, 'approvals'],
  [/^webhooks?[-.]/, 'webhooks'],
  [/^(hourly|part|overview|action-stats|insights)[-.]/, 'insights'],
];
const SETTINGS_FORMS = ['apps/console/src/people/approvals-form.tsx'];

const entriesOf = (tree: string) => readdirSync(resolve(ROOT, tree), { withFileTypes: true });

/** The files that lie in a tree itself, or in the folder of another context than theirs. */
const misplacedIn = (tree: string): readonly string[] => {
  const entries = entriesOf(tree);
  const own = entries.filter((entry) => !entry.isDirectory()).map(({ name }) => ({ folder: '', name }));
  const ofContexts = entries
    .filter((entry) => entry.isDirectory() && CONTEXTS.includes(entry.name))
    .flatMap(({ name: folder }) => entriesOf(join(tree, folder)).map(({ name }) => ({ folder, name })));
  return [...own, ...ofContexts]
    .filter(({ folder, name }) => OWNED.some(([pattern, context]) => pattern.test(name) && context !== folder))
    .map(({ folder, name }) => join(tree, folder, name));
};

describe('a context', () => {
  it.each(Object.entries(SHARED))(
    'has its own name in %s, where every other folder serves all contexts',
    (tree, shared) => {
      const folders = entriesOf(tree).filter(
        (entry) => entry.isDirectory() && entriesOf(join(tree, entry.name)).length > 0,
      );
      const strange = folders
        .map(({ name }) => name)
        .filter((name) => ![...CONTEXTS, ...shared].includes(name))
        .filter((name) => !APART.some(([path]) => path === join(tree, name)));
      expect(strange, `Name a folder of ${tree} after its context, or list it here as one that serves all`).toEqual([]);
    },
  );

  it.each(Object.keys(SHARED).filter((tree) => tree !== 'libs/domain/src'))(
    'has its files of %s in its folder',
    (tree) => {
      const isAllowed = (path: string): boolean => SETTINGS_FORMS.includes(path);
      expect(
        misplacedIn(tree).filter((path) => !isAllowed(path)),
        'Move each file to the folder of its context',
      ).toEqual([]);
    },
  );

  it.each([
    'hourly-reads.ts',
    'part-reads.ts',
    'approvals.row.ts',
    'webhook.row.ts',
    'gate/overview-reads.ts',
    'events/postgres-approval-links.ts',
  ])('misses its file if that is planted as %s', (path) => {
    const tree = mkdtempSync(join(tmpdir(), 'context-folders-'));
    onTestFinished(() => rmSync(tree, { recursive: true }));
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), '');
    expect(misplacedIn(tree)).toEqual([join(tree, path)]);
  });

  it.each(APART)('has its folder %s under another name, because it holds %s', (path) => {
    expect(entriesOf(path)).not.toEqual([]);
  });

  it('is listed in docs/architecture.md', () => {
    const [, table = ''] =
      /^## Where code lives\n([^]*?)^## /m.exec(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')) ?? [];
    const listed = [...table.matchAll(/^\| `([a-z]+)` \|/gm)].map(([, name]) => name);
    expect(listed.toSorted()).toEqual(CONTEXTS);
  });
});
