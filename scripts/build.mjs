// Compiles the tree and bundles its programs when a source is newer than the last build, and says so on stderr only:
// standard output belongs to the command that needed the build.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

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
];

const newest = (path) => {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  // A directory's own time changes when a file is added, renamed or removed.
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), stats.mtimeMs);
};

/** An image holds what was compiled and no sources: there is nothing to build, and nothing to build it with. */
const isBuiltElsewhere = () => !existsSync(join(root, 'tsconfig.json'));

const isStale = () =>
  !existsSync(stamp) || sources.some((source) => newest(join(root, source)) > statSync(stamp).mtimeMs);

/** Builds what is stale. Ends the process with the compiler's exit code when it fails. */
export const buildIfStale = async () => {
  if (isBuiltElsewhere() || !isStale()) return;
  process.stderr.write('Building: about half a minute, only when sources changed ...\n');
  const startedAt = new Date();
  rmSync(stamp, { force: true });
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const result = spawnSync(process.execPath, [tsc, '-p', root], { cwd: root, stdio: ['ignore', 2, 2] });
  if (result.status !== 0) process.exit(result.status ?? 1);
  const { bundlePrograms } = await import('./bundle.mjs');
  await bundlePrograms(join(root, 'dist'));
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, `${startedAt.toISOString()}\n`);
  // A source changed while the compiler ran is newer than the stamp: the next call builds again.
  utimesSync(stamp, startedAt, startedAt);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildIfStale();
