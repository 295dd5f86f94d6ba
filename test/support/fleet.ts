import { rm } from 'node:fs/promises';
import { createWholeDatabase, type TestDatabase } from './database.js';
import { environmentWith } from './environment.js';
import { FleetProcess, type ProgramName } from './fleet-process.js';
import { runAgs } from './run-ags.js';
import { callAt, temporaryStateDir, type Answer, type Call } from './service.js';

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
    const database = await createWholeDatabase();
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

  /** Whoever takes it out sees to its end. */
  takeOut(process: FleetProcess): void {
    this.processes.splice(this.processes.indexOf(process), 1);
  }

  /** Ended as an operator would, and then another in its place. Resolves with the exit code of the one that ended. */
  async replace(process: FleetProcess, env: Readonly<Record<string, string>> = {}): Promise<unknown> {
    const code = await this.retire(process);
    await this.start(process.program, 1, env);
    return code;
  }

  /** Ends one as a supervisor does. @returns its exit code */
  async retire(process: FleetProcess): Promise<unknown> {
    const code = await process.end('SIGTERM');
    this.takeOut(process);
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
