import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '#libs/infra/runtime';

const PROGRAMS = join(packageRoot(), 'dist', 'programs');

/** The files that are read before a program begins, by their imports alone: what `import()` names is read where it is needed. */
const readBefore = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(PROGRAMS, file), 'utf8');
  for (const [, imported] of text.matchAll(/^import\b[^;]*?"\.\/([\w.-]+\.js)";/gm))
    readBefore(imported as string, seen);
  return seen;
};

it('every command of the CLI begins without the policies, the read models and the service', () => {
  const files = [...readBefore('cli.js')];
  expect(files.length).toBeGreaterThan(3);
  const bytes = files.map((file) => statSync(join(PROGRAMS, file)).size).reduce((sum, size) => sum + size, 0);
  expect([bytes < 2_000_000, files.filter((file) => /^(policies|read-models|deployment)-/.test(file))]).toEqual([
    true,
    [],
  ]);
});
