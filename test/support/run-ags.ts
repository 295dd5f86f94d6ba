import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { environmentWith } from './environment.js';
import { objectsIn, runInProcess } from './run-program.js';
import { ROOT } from './service.js';

export interface AgsRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Standard output as one JSON object a line. */
  readonly objects: readonly Readonly<Record<string, unknown>>[];
  /** The first of them. */
  readonly object: Readonly<Record<string, unknown>>;
  /** What `--json` says of an error, on standard error. */
  readonly error: Readonly<Record<string, unknown>>;
}

export interface AgsOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: Uint8Array;
}

/** Runs `npm run ags -- <args>` as a program of its own, and waits until it has ended by itself. */
export const runAgs = async (args: readonly string[], { env = {}, input }: AgsOptions = {}): Promise<AgsRun> => {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'cli', ...args], {
    cwd: ROOT,
    env: { ...environmentWith({}), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin.end(input);
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return runOf(code, stdout, stderr);
};

const runOf = (code: number | null, stdout: string, stderr: string): AgsRun => {
  const objects = objectsIn(stdout);
  return { code, stdout, stderr, objects, object: objects[0] ?? {}, error: objectsIn(stderr)[0] ?? {} };
};

let earlier: Promise<unknown> = Promise.resolve();

/**
 * The same command line in this process, which saves a second of processor time a command. For what a test arranges, and for
 * commands whose process is not what is tested: no signals, no standard input, no exit. One runs at a time, because each
 * reads its settings from the environment of the process.
 */
export const runAgsHere = (args: readonly string[], { env = {} }: Pick<AgsOptions, 'env'> = {}): Promise<AgsRun> => {
  const run = earlier.then(() => inEnvironment({ ...environmentWith({}), ...env }, () => runInProcess(args)));
  earlier = run.catch(() => undefined);
  return run.then(({ code, stdout, stderr }) => runOf(code, stdout, stderr));
};

const inEnvironment = async <Result>(environment: NodeJS.ProcessEnv, work: () => Promise<Result>): Promise<Result> => {
  const before = process.env;
  process.env = environment;
  try {
    return await work();
  } finally {
    process.env = before;
  }
};
