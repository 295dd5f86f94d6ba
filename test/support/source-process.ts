import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { withOpenFiles } from './open-files-limit.js';

const REGISTER = new URL('./register-typescript.mjs', import.meta.url).href;
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A process of its own that runs a source file and speaks in lines of JSON. */
export interface SourceProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The next line it wrote; rejects when it ended without one. */
  nextLine(): Promise<Record<string, unknown>>;
  write(line: string): void;
  /** Resolves when it has ended. */
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface SourceProcessOptions {
  readonly args?: readonly string[];
  readonly uid?: number;
  readonly gid?: number;
  /** As `ulimit -n`. Default: as many as whoever starts it. */
  readonly openFiles?: number;
}

/** What was compiled, as the runs of kills are, starts what was compiled with it. */
const IS_COMPILED = import.meta.url.endsWith('.js');

const programOf = (file: URL): readonly string[] => {
  const path = fileURLToPath(file);
  if (IS_COMPILED) return [path.replace(/\.ts$/, '.js')];
  return ['--conditions=source', '--import', REGISTER, path];
};

/** Runs `file` as it is in the tree, in a process group of its own. */
export const startSource = (
  file: URL,
  { args = [], openFiles, ...account }: SourceProcessOptions = {},
): SourceProcess => {
  const command = [process.execPath, ...programOf(file), ...args] as const;
  const [program, ...rest] = openFiles === undefined ? command : withOpenFiles(openFiles, command);
  const child = spawn(program, rest, {
    cwd: ROOT,
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
    ...account,
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hasEnded = once(child, 'exit');
  return {
    child,
    pid: child.pid as number,
    nextLine: async () => {
      const { value, done } = await lines.next();
      if (done) throw new Error(`the process ended with ${child.exitCode ?? child.signalCode ?? 'nothing'}`);
      return JSON.parse(value) as Record<string, unknown>;
    },
    write: (line) => void child.stdin.write(`${line}\n`),
    kill: async (signal) => {
      child.kill(signal);
      await hasEnded;
    },
  };
};
