import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { environmentWith } from '#libs/infra/config';
import { createTestDatabase, type TestDatabase } from './database.js';
import { runAgs } from './run-ags.js';
import { callAt, ROOT, temporaryStateDir, type Answer, type Call } from './service.js';

export type ProgramName = 'api' | 'worker' | 'projector';

const START_DEADLINE_MS = 60_000;
const EXIT_DEADLINE_MS = 30_000;

/** A program of the deployment, as an operator starts it. */
export class FleetProcess {
  private constructor(
    readonly program: ProgramName,
    private readonly child: ChildProcess,
    /** Of an api; empty for the others. */
    readonly baseUrl: string,
    private readonly log: { text: string },
  ) {}

  static async start(program: ProgramName, env: NodeJS.ProcessEnv): Promise<FleetProcess> {
    const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), program], {
      cwd: ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const log = { text: '' };
    const started = new RegExp(`^(?:.* base_url=(\\S+))?.* message="${program} started"`, 'm');
    const baseUrl = await new Promise<string>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${program} ${why}\n${log.text}`));
      const deadline = setTimeout(() => {
        child.kill('SIGKILL');
        fail('did not start');
      }, START_DEADLINE_MS);
      child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`));
      const read = (chunk: Buffer): void => {
        log.text += chunk.toString();
        const line = started.exec(log.text);
        if (line === null) return;
        clearTimeout(deadline);
        resolve(line[1] ?? '');
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
    });
    return new FleetProcess(program, child, baseUrl, log);
  }

  get output(): string {
    return this.log.text;
  }

  get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves with its exit code, or the signal that ended it. */
  async end(signal: NodeJS.Signals): Promise<number | NodeJS.Signals | null> {
    const { child } = this;
    if (!this.isRunning) return child.exitCode ?? child.signalCode;
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(EXIT_DEADLINE_MS) });
    child.kill(signal);
    const [code, by] = (await exited) as [number | null, NodeJS.Signals | null];
    return code ?? by;
  }
}

/** A deployment of several processes on one database, prepared by `ags init`. */
export class Fleet {
  readonly processes: FleetProcess[] = [];

  private constructor(
    private readonly database: TestDatabase,
    private readonly stateDir: string,
    readonly environment: NodeJS.ProcessEnv,
    private readonly prepared: Readonly<Record<string, unknown>>,
  ) {}

  static async prepare(env: Readonly<Record<string, string>>): Promise<Fleet> {
    const database = await createTestDatabase();
    const stateDir = await temporaryStateDir();
    const environment = environmentWith({
      SERVICE_STATE_DIR: stateDir,
      SERVICE_PORT: '0',
      DATABASE_URL: database.connectionString,
      ...env,
    });
    const { code, objects, stderr } = await runAgs(['init', '--json'], { env: environment });
    if (code !== 0) throw new Error(`ags init ended with ${code}: ${stderr}`);
    return new Fleet(database, stateDir, environment, objects.at(-1) ?? {});
  }

  get org(): string {
    return String(this.prepared['org']);
  }
  get agent(): string {
    return String(this.prepared['agent']);
  }
  get agentKey(): string {
    return String(this.prepared['agent_key']);
  }
  get adminKey(): string {
    return String(this.prepared['admin_key']);
  }
  get connectionString(): string {
    return this.database.connectionString;
  }

  /** One after the other: it says where each stands that does not start. */
  async start(program: ProgramName, count: number, env: Readonly<Record<string, string>> = {}): Promise<void> {
    for (let index = 0; index < count; index += 1) {
      this.processes.push(await FleetProcess.start(program, { ...this.environment, ...env }));
    }
  }

  running(program: ProgramName): readonly FleetProcess[] {
    return this.processes.filter((process) => process.program === program);
  }

  async end(program: ProgramName, signal: NodeJS.Signals): Promise<void> {
    const ended = this.running(program);
    await Promise.all(ended.map((process) => process.end(signal)));
    for (const process of ended) this.processes.splice(this.processes.indexOf(process), 1);
  }

  /** Ended as an operator would, and then another in its place. Resolves with the exit code of the one that ended. */
  async replace(process: FleetProcess, env: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const code = await process.end('SIGTERM');
    this.processes.splice(this.processes.indexOf(process), 1);
    await this.start(process.program, 1, env);
    return code;
  }

  /** Calls go to the api processes in turn. */
  call(method: string, path: string, call: Call = {}): Promise<Answer> {
    this.turn += 1;
    const apis = this.running('api');
    const api = apis[this.turn % apis.length];
    if (api === undefined) throw new Error('no api process runs');
    return callAt(api.baseUrl, method, path, call);
  }
  private turn = 0;

  async stop(): Promise<void> {
    await Promise.all(this.processes.map((process) => process.end('SIGTERM')));
    await this.database.drop();
    await rm(this.stateDir, { recursive: true, force: true });
  }
}
