import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { environmentWith } from '#libs/infra/config';
import { objectsIn } from './run-program.js';
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
  const objects = objectsIn(stdout);
  return { code, stdout, stderr, objects, object: objects[0] ?? {}, error: objectsIn(stderr)[0] ?? {} };
};
