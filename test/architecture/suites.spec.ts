import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

/** What starts a program of ours, or another server than the PostgreSQL that a run of the tests shares. */
const STARTS_A_PROGRAM = new Set([
  'Fleet',
  'KurrentCluster',
  'KurrentServer',
  'KurrentServerProcess',
  'RedisServer',
  'runAgs',
  'startKurrent',
  'startKurrentLog',
  'startService',
  'startSource',
]);

/** `npm test` starts the program for its main job, and for one crash. */
const STARTED_ALL_THE_SAME = ['test/e2e/actions.spec.ts', 'test/e2e/crash-before-seal.spec.ts'];

const specs = ['apps', 'libs', 'test']
  .flatMap((tree) =>
    readdirSync(join(ROOT, tree), { recursive: true, encoding: 'utf8' }).map((name) => join(tree, name)),
  )
  .filter((path) => path.endsWith('.spec.ts') && !path.startsWith('test/architecture/violations/'));

interface Import {
  readonly names: readonly string[];
  readonly from: string;
}

/** What a module imports to use it: types are not. */
const importsOf = (path: string): readonly Import[] =>
  [...readFileSync(join(ROOT, path), 'utf8').matchAll(/^import (?!type )\{?([^;']*?)\}? from '([^']+)';/gm)]
    .map(([, list = '', from = '']) => ({ from, names: list.split(',').map((name) => name.trim()) }))
    .map(({ from, names }) => ({ from, names: names.filter((name) => name !== '' && !name.startsWith('type ')) }))
    .filter(({ names }) => names.length > 0);

/** A spec and the modules of its own that it is made of. What test/support holds is known by its names instead. */
const modulesOf = (path: string, found = new Set<string>()): ReadonlySet<string> => {
  found.add(path);
  for (const { from } of importsOf(path)) {
    const module = join(dirname(path), from.replace(/\.js$/, '.ts'));
    const isItsOwn = from.startsWith('.') && module.startsWith('test/') && !module.startsWith('test/support/');
    if (isItsOwn && !found.has(module) && existsSync(join(ROOT, module))) modulesOf(module, found);
  }
  return found;
};

const startsAProgram = (spec: string): boolean =>
  [...modulesOf(spec)].some((module) =>
    importsOf(module).some(({ names }) => names.some((name) => STARTS_A_PROGRAM.has(name))),
  );

describe('a spec says by its name to which suite it belongs', () => {
  it('is of npm run test:long, by `.long.spec.ts`, where it starts a program', () => {
    const short = specs.filter((path) => !path.endsWith('.long.spec.ts') && startsAProgram(path));
    expect(short.toSorted()).toEqual(STARTED_ALL_THE_SAME);
  });
});
