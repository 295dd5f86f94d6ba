// Compiles the tree and bundles its programs when a source is newer than the last build, and the Console when one of its own
// is; says so on stderr only: standard output belongs to the command that needed the build.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { oneAtATime } from './one-at-a-time.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const CONSOLE = join('apps', 'console');
const SHARED = ['package.json', 'package-lock.json', 'scripts/build.mjs', 'scripts/one-at-a-time.mjs'];

/** The two halves of a build, each with its stamp: a change of one does not build the other. */
const PROGRAMS = {
  stamp: join(root, 'dist', '.built'),
  sources: [
    ...SHARED,
    'apps',
    'libs',
    'test',
    'tsconfig.json',
    'scripts/browser-platform.mjs',
    'scripts/bundle.mjs',
    'scripts/openapi.mjs',
    'scripts/verifier.mjs',
  ],
  without: CONSOLE,
  says: 'Building: about half a minute, only when sources changed ...',
};
const PAGES = {
  stamp: join(root, 'dist', '.built-console'),
  sources: [
    ...SHARED,
    CONSOLE,
    'scripts/console.mjs',
    // What judges a proof.
    'libs/crypto',
    'apps/verifier/src/platform',
    'scripts/browser-platform.mjs',
  ],
  without: null,
  says: 'Building the Console: some seconds, only when its sources changed ...',
};

const newest = (path, without) => {
  const stats = statSync(join(root, path));
  if (!stats.isDirectory()) return stats.mtimeMs;
  // A directory's own time changes when a file is added, renamed or removed.
  return readdirSync(join(root, path))
    .map((name) => join(path, name))
    .filter((name) => name !== without)
    .reduce((latest, name) => Math.max(latest, newest(name, without)), stats.mtimeMs);
};

/** An image holds what was compiled and no sources: there is nothing to build, and nothing to build it with. */
const isBuiltElsewhere = () => !existsSync(join(root, 'tsconfig.json'));

const isStaleHalf = ({ stamp, sources, without }) => {
  const built = statSync(stamp, { throwIfNoEntry: false });
  return built === undefined || sources.some((source) => newest(source, without) > built.mtimeMs);
};

const isStale = () => isStaleHalf(PROGRAMS) || isStaleHalf(PAGES);

/**
 * Builds what is stale, one process at a time: whoever is started meanwhile waits, and then finds it done. Ends the process
 * with the compiler's exit code when it fails.
 */
export const buildIfStale = async () => {
  if (isBuiltElsewhere() || !isStale()) return;
  mkdirSync(join(root, 'dist'), { recursive: true });
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

/** Both at once: the compiler leaves a core to the Console. */
const build = async () => {
  const programs = isStaleHalf(PROGRAMS) && stamped(PROGRAMS, compile);
  const pages = isStaleHalf(PAGES) && stamped(PAGES, () => run(join(root, 'scripts', 'console.mjs')));
  await Promise.all([programs, pages]);
};

const compile = async () => {
  const [{ bundlePrograms }, { writeOpenApiDocument }, { writeVerifier }] = await Promise.all([
    import('./bundle.mjs'),
    import('./openapi.mjs'),
    import('./verifier.mjs'),
  ]);
  writeOpenApiDocument(join(root, 'dist'));
  await run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root);
  copySql();
  await bundlePrograms(join(root, 'dist'));
  await writeVerifier(join(root, 'dist', 'verify.html'));
};

/** The compiler copies nothing but code: the SQL of the schemas (libs/infra/src/schemas) lies beside it here, too. */
const copySql = () => {
  const sqlBelow = (folder) =>
    existsSync(folder) ? readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.sql')) : [];
  const [from, to] = [join(root, 'libs'), join(root, 'dist', 'libs')];
  // A file that is no longer a source would be a step or a function all the same.
  for (const name of sqlBelow(to)) rmSync(join(to, name));
  for (const name of sqlBelow(from)) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    copyFileSync(join(from, name), join(to, name));
  }
};

const stamped = async ({ stamp, says }, work) => {
  process.stderr.write(`${says}\n`);
  const startedAt = new Date();
  rmSync(stamp, { force: true });
  await work();
  writeFileSync(stamp, `${startedAt.toISOString()}\n`);
  // A source changed while the build ran is newer than the stamp: the next call builds again.
  utimesSync(stamp, startedAt, startedAt);
};

const run = async (program, ...args) => {
  const child = spawn(process.execPath, [program, ...args], { cwd: root, stdio: ['ignore', 2, 2] });
  const [code] = await once(child, 'exit');
  if (code !== 0) process.exit(code ?? 1);
};

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildIfStale();
