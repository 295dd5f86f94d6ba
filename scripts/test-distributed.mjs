// `npm run test:distributed`: what several processes on real stores must hold, on what this machine has.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildIfStale } from './build.mjs';

const USAGE = `usage: npm run test:distributed -- [--only contracts,processes,sealers,faults,chaos]

Runs what several processes on real stores must hold, on what this machine has. Says first what it found, skips visibly
what cannot be had, and ends with a summary. Exit code 0: all of it held. 1: a part failed. 2: it was asked for wrongly.

  contracts  the suites of the event store, the bus and the job queue, against every adapter; faults of KurrentDB
  processes  the end-to-end tests that start several processes
  sealers    two sealers on one organization, 10,000 deeds
  faults     a fleet on what fails: each fault of its surroundings, under load, judged by the checker of the kills
  chaos      10 kills across two of each program and their stores

  --only     some of these, with commas between them; all of them unless said. npm run test:long runs the first two
  --help     this text

AGS_FAULTS=whole lets each fault last as long as it may in earnest, which takes most of an hour.

`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const CHAOS = ['--profile', 'distributed', '--kills', '10', '--seed', '5'];

/** The first line that a program prints; null where it is not there, or fails. */
const answerOf = (program, ...args) => {
  const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', timeout: 10_000 });
  return status === 0 ? (stdout.trim().split('\n')[0] ?? '') : null;
};

const engineFinding = (engine, isServerNamed) => {
  if (engine === null) return 'container engine: none answers. Skipped: the log on KurrentDB in a container';
  if (isServerNamed) return `container engine: Docker ${engine}, which no part here needs`;
  return `container engine: Docker ${engine}. The contract and the faults of the log run on KurrentDB in a container`;
};

const findings = () => {
  const redis = answerOf('redis-server', '--version');
  const engine = answerOf('docker', 'version', '--format', '{{.Server.Version}}');
  const kurrent = process.env.KURRENTDB_PROGRAM;
  const foreign = process.env.KURRENTDB_URL;
  return [
    `redis-server: ${redis ?? 'not on the PATH. Skipped: what runs on Redis, and the faults F-09 and F-18'}`,
    kurrent
      ? `KurrentDB: the server that KURRENTDB_PROGRAM names, ${kurrent}`
      : 'KurrentDB: KURRENTDB_PROGRAM names none. A test server that speaks its protocol takes its place; skipped: the services on a real one, and a cluster of three',
    ...(foreign ? ['KurrentDB: its contract and faults of the way to it on the server that KURRENTDB_URL names'] : []),
    engineFinding(engine, Boolean(kurrent || foreign)),
  ];
};

/** Specs, by what is in them: one that is written later is found. */
const specsWith = (pattern) =>
  ['apps', 'libs', 'test']
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => path.endsWith('.spec.ts') && pattern.test(readFileSync(join(root, path), 'utf8')));

const run = (args, env = {}) => {
  const options = { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } };
  return spawnSync(process.execPath, args, options).status === 0;
};

const test = (specs, { options = [], env = {} } = {}) => {
  if (specs.length === 0) throw new Error('there are no such specs any more');
  return run([join(root, 'node_modules', 'vitest', 'vitest.mjs'), 'run', ...options, ...specs], env);
};

/** A fleet is six processes or more, which share a PostgreSQL of a hundred connections. */
const ONE_AT_A_TIME = { options: ['--no-file-parallelism'] };

const PARTS = {
  contracts: () =>
    test(
      specsWith(/\b(?:(?:eventStore|bus|jobQueue)Contract|startKurrentLog)\(/),
      process.env.KURRENTDB_URL ? ONE_AT_A_TIME : {},
    ),
  processes: () => test(specsWith(/\/support\/fleet\.js'/), ONE_AT_A_TIME),
  sealers: () => test(['test/ledger/two-sealers.long.spec.ts'], { env: { AGS_TWO_SEALERS: 'all' } }),
  faults: () =>
    test(['test/e2e/fault-matrix.long.spec.ts', 'test/e2e/redis-hangs.long.spec.ts'], {
      ...ONE_AT_A_TIME,
      env: { AGS_FAULTS: process.env.AGS_FAULTS ?? 'short' },
    }),
  chaos: () => run([join(root, 'scripts', 'run.mjs'), 'chaos', ...CHAOS]),
};

class UsageError extends Error {}

/** What parseArgs says of a wrong argument goes on with advice that fits no option of this program. */
const firstSentence = (text) => text.split(/\.?(?: |\n)(?=[A-Z])/)[0];

const optionsOf = (args) => {
  const options = {
    only: { type: 'string', default: Object.keys(PARTS).join(',') },
    help: { type: 'boolean', default: false },
  };
  try {
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError(firstSentence(error.message), { cause: error });
  }
};

/** The parts to run; null where the usage is asked for. */
const askedBy = (args) => {
  const { only, help } = optionsOf(args);
  if (help) return null;
  const names = only.split(',');
  const unknown = names.find((name) => !Object.hasOwn(PARTS, name));
  if (unknown === undefined) return names;
  throw new UsageError(`--only names some of ${Object.keys(PARTS).join(', ')}, not "${unknown}"`);
};

const runParts = async (asked) => {
  const found = findings();
  process.stdout.write(`${found.join('\n')}\n`);
  await buildIfStale();
  const results = asked.map((name) => {
    process.stdout.write(`\n==> ${name}\n`);
    const startedMs = performance.now();
    const hasPassed = PARTS[name]();
    return { name, hasPassed, seconds: Math.round((performance.now() - startedMs) / 1000) };
  });
  const lines = results.map(
    ({ name, hasPassed, seconds }) => `${hasPassed ? 'passed' : 'FAILED'}: ${name} (${seconds} s)`,
  );
  process.stdout.write(`\n${[...found, ...lines].join('\n')}\n`);
  return results.every(({ hasPassed }) => hasPassed) ? 0 : 1;
};

const main = async () => {
  try {
    const asked = askedBy(process.argv.slice(2));
    if (asked !== null) return await runParts(asked);
    process.stdout.write(USAGE);
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    process.stderr.write(`${error.message}; npm run test:distributed -- --help says how it is called\n`);
    return 2;
  }
};

process.exitCode = await main();
