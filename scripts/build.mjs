// Compiles the tree and bundles its programs when a source is newer than the last build, and says so on stderr only:
// standard output belongs to the command that needed the build.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneAtATime } from './one-at-a-time.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'dist', '.built');
const sources = [
  'apps',
  'libs',
  'test',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/build.mjs',
  'scripts/bundle.mjs',
  'scripts/one-at-a-time.mjs',
];

const newest = (path) => {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  // A directory's own time changes when a file is added, renamed or removed.
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), stats.mtimeMs);
};

/** An image holds what was compiled and no sources: there is nothing to build, and nothing to build it with. */
const isBuiltElsewhere = () => !existsSync(join(root, 'tsconfig.json'));

const isStale = () => {
  const built = statSync(stamp, { throwIfNoEntry: false });
  return built === undefined || sources.some((source) => newest(join(root, source)) > built.mtimeMs);
};

/**
 * Builds what is stale, one process at a time: whoever is started meanwhile waits, and then finds it done. Ends the process
 * with the compiler's exit code when it fails.
 */
export const buildIfStale = async () => {
  if (isBuiltElsewhere() || !isStale()) return;
  mkdirSync(dirname(stamp), { recursive: true });
  await oneAtATime(join(root, 'dist', '.building'), {
    work: async () => {
      if (isStale()) await build();
    },
    onWait: () => process.stderr.write('Another process builds; waiting for it ...\n'),
  });
};

/**
 * The same in a process of its own, for a program that goes on afterwards: the bundler leaves some 700 MB behind, which a service
 * would hold for as long as it runs.
 */
export const buildApartIfStale = () => {
  if (isBuiltElsewhere() || !isStale()) return;
  const { status } = spawnSync(process.execPath, [fileURLToPath(import.meta.url)], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(status ?? 1);
};

const build = async () => {
  process.stderr.write('Building: about half a minute, only when sources changed ...\n');
  const startedAt = new Date();
  rmSync(stamp, { force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const result = spawnSync(process.execPath, [tsc, '-p', root], { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) process.exit(result.status ?? 1);
  const { bundlePrograms } = await import('./bundle.mjs');
  await bundlePrograms(join(root, 'dist'));
  writeFileSync(stamp, `${startedAt.toISOString()}\n`);
  // A source changed while the compiler ran is newer than the stamp: the next call builds again.
  utimesSync(stamp, startedAt, startedAt);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildIfStale();
