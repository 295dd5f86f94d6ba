import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { ROOT, SERVING_FLAGS } from './service.js';

export type ProgramName = 'api' | 'worker' | 'projector';

export interface FleetProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const START_DEADLINE_MS = 60_000;
const EXIT_DEADLINE_MS = 30_000;

/** A program of the deployment, as an operator starts it. */
export class FleetProcess {
  /** Resolves when it has ended. */
  readonly ended: Promise<FleetProcessEnd>;

  private constructor(
    readonly program: ProgramName,
    private readonly child: ChildProcess,
    /** Of an api; empty for the others. */
    readonly baseUrl: string,
    private readonly log: { stdout: string; text: string },
    ended: Promise<FleetProcessEnd>,
  ) {
    this.ended = ended;
  }

  /** Resolves when it says that it has started, which it does at the log levels debug and info. */
  static async start(program: ProgramName, env: NodeJS.ProcessEnv): Promise<FleetProcess> {
    const { child, log, ended } = spawned(program, env);
    const started = new RegExp(`^(?:.* base_url=(\\S+))?.* message="${program} started"`, 'm');
    const baseUrl = await new Promise<string>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${program} ${why}\n${log.text}`));
      const deadline = setTimeout(() => {
        child.kill('SIGKILL');
        fail('did not start');
      }, START_DEADLINE_MS);
      child.once('exit', (code, signal) => {
        clearTimeout(deadline);
        fail(`ended with ${code ?? signal}`);
      });
      child.stdout.on('data', () => {
        const line = started.exec(log.stdout);
        if (line === null) return;
        clearTimeout(deadline);
        resolve(line[1] ?? '');
      });
    });
    return new FleetProcess(program, child, baseUrl, log, ended);
  }

  /** Waits for nothing. @param baseUrl that its settings give it; empty for others than an api */
  static launch(program: ProgramName, env: NodeJS.ProcessEnv, baseUrl: string): FleetProcess {
    const { child, log, ended } = spawned(program, env);
    return new FleetProcess(program, child, baseUrl, log, ended);
  }

  get pid(): number {
    return this.child.pid as number;
  }

  get stdout(): string {
    return this.log.stdout;
  }

  /** What it printed, on either. */
  get output(): string {
    return this.log.text;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name);
  }

  /** Resolves with its exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    this.child.kill(signal);
    let deadline: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      deadline = setTimeout(() => reject(new Error(`${this.program} did not end:\n${this.output}`)), EXIT_DEADLINE_MS);
    });
    const { code, signal: by } = await Promise.race([this.ended, late]);
    clearTimeout(deadline);
    return code ?? by;
  }
}

const spawned = (program: ProgramName, env: NodeJS.ProcessEnv) => {
  const child = spawn(process.execPath, [...SERVING_FLAGS, join(ROOT, 'scripts', 'run.mjs'), program], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const log = { stdout: '', text: '' };
  child.stdout.on('data', (chunk: Buffer) => {
    log.stdout += chunk.toString();
    log.text += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => (log.text += chunk.toString()));
  const ended = new Promise<FleetProcessEnd>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  return { child, log, ended };
};
