import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FIRST_SECRETS_FILE } from '#libs/infra/deployment';
import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { environmentWith } from './environment.js';
import { withOpenFiles } from './open-files-limit.js';
import { layReadyDatabase } from './ready-database.js';
import { silentLogger } from './silent-logger.js';

/** The tree, also for a program that runs from dist/. */
const rootAbove = (folder: string): string =>
  existsSync(join(folder, 'package.json')) ? folder : rootAbove(dirname(folder));

export const ROOT = rootAbove(dirname(fileURLToPath(import.meta.url)));
const START_DEADLINE_MS = 90_000;
const EXIT_DEADLINE_MS = 30_000;

/** A folder for a state directory. Under root the database has a user of its own, which must pass through. */
export const temporaryStateDir = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-e2e-'));
  if (process.getuid?.() === 0) await chmod(folder, 0o711);
  return folder;
};

/** Ends what a killed process left running in a state directory, and removes it. */
export const removeStateDir = async (stateDir: string): Promise<void> => {
  for (const purpose of ['demo', 'service'] as const) {
    if (!existsSync(join(stateDir, purpose === 'demo' ? 'demo' : '', 'postgres'))) continue;
    // Adopted, so that letting go as its last user stops it.
    const server = await startEmbeddedPostgres({ stateDir, purpose, log: silentLogger });
    await server.release();
  }
  await rm(stateDir, { recursive: true, force: true });
};

export interface ServiceOptions {
  /** Settings beside SERVICE_STATE_DIR and SERVICE_PORT (0). */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: a new one, removed by `stop`. A given one stays. */
  readonly stateDir?: string;
  readonly program?: Program;
  /** How many files and sockets the process may have open (`ulimit -n`). Default: as many as whoever starts it. */
  readonly openFiles?: number;
}

/** What is started, and where. */
export interface Program {
  readonly folder: string;
  /** Default: the Node that runs the tests. */
  readonly file?: string;
  readonly args: readonly string[];
}

/** What starts every program that serves, below the tree. */
export const LAUNCHER = join('scripts', 'serve.sh');

/** Of Node, as the launcher gives them. */
export const SERVING_FLAGS: readonly string[] = [
  ...readFileSync(join(ROOT, LAUNCHER), 'utf8').matchAll(/^ {2}(--\S+) \\$/gm),
].map(([, flag = '']) => flag);

const startWith = (...flags: readonly string[]): Program => ({
  folder: ROOT,
  args: [...SERVING_FLAGS, ...flags, join(ROOT, 'scripts', 'run.mjs'), 'standalone'],
});

/** `npm start`, without npm. */
const START = startWith();

/** The same with a young generation that has its full size from the start: what grows afterwards is kept by somebody. */
export const START_AT_FULL_SIZE = startWith('--min-semi-space-size=64');

export interface Call {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body's members; empty when it is not a JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
  /** The error of an envelope. */
  readonly error: Readonly<Record<string, unknown>>;
}

const SIGN_IN_TOKEN = 'sign-in token';

/** The service as `npm start` runs it: one process of apps/standalone, its database its own. */
export class RunningService {
  private child: ChildProcess | null = null;
  private printed = '';
  private logged = '';
  private address = '';
  private earlierOutput = '';
  private readonly shown = new Map<string, string>();
  /** How those processes ended that are gone. */
  readonly ends: { readonly code: number | null; readonly signal: NodeJS.Signals | null }[] = [];
  /** By SIGKILL. */
  killedByHand = 0;

  constructor(
    readonly stateDir: string,
    private readonly isOwnStateDir: boolean,
    private readonly env: Readonly<Record<string, string>>,
    private readonly program: Program,
    private readonly openFiles: number | null = null,
  ) {}

  /** Changes with every start: the port is any free one. */
  get baseUrl(): string {
    return this.address;
  }
  get baseUrls(): readonly string[] {
    return [this.address];
  }
  get org(): string {
    return this.shownAs('organization');
  }
  get adminKey(): string {
    return this.shownAs('admin key');
  }
  get agent(): string {
    return this.shownAs('agent');
  }
  get agentKey(): string {
    return this.shownAs('agent key');
  }
  /** Of the owner's first link. */
  get signInToken(): string {
    return this.shownAs(SIGN_IN_TOKEN);
  }
  /** Fingerprint of the seal key of the first start: what `--pin` takes. */
  get pin(): string {
    return this.shownAs('seal key (--pin)');
  }
  /** Standard output of the last start: the welcome and the log. */
  get stdout(): string {
    return this.printed;
  }
  get stderr(): string {
    return this.logged;
  }
  /** Of every start. */
  get output(): string {
    return this.earlierOutput + this.printed + this.logged;
  }
  get pid(): number {
    return this.running().pid as number;
  }
  get isRunning(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }
  /** Itself, while it runs. */
  get processes(): readonly this[] {
    return this.isRunning ? [this] : [];
  }
  /** For a program that is to work on the same state directory. */
  get environment(): NodeJS.ProcessEnv {
    return environmentWith({ SERVICE_STATE_DIR: this.stateDir, SERVICE_PORT: '0', ...this.env });
  }

  async start(): Promise<void> {
    const { file: program = process.execPath, args: given } = this.program;
    const command = [program, ...given] as const;
    const [file, ...args] = this.openFiles === null ? command : withOpenFiles(this.openFiles, command);
    const child = spawn(file, args, {
      cwd: this.program.folder,
      env: this.environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.child = child;
    this.earlierOutput = this.output;
    [this.printed, this.logged] = ['', ''];
    child.once('exit', (code, signal) => this.ends.push({ code, signal }));
    child.stderr.on('data', (chunk: Buffer) => (this.logged += chunk.toString()));
    await new Promise<void>((resolve, reject) => {
      const fail = (why: string): void => reject(new Error(`${why}\n${this.printed}${this.logged}`));
      const deadline = setTimeout(() => {
        child.kill('SIGKILL');
        fail(`The service was not up in ${START_DEADLINE_MS} ms.`);
      }, START_DEADLINE_MS);
      child.once('exit', (code, signal) => fail(`The service ended with ${code ?? signal}.`));
      child.stdout.on('data', (chunk: Buffer) => {
        this.printed += chunk.toString();
        // The welcome ends with the first call to paste.
        if (!/^ {2}curl [^]*\n\n/m.test(this.printed)) return;
        clearTimeout(deadline);
        resolve();
      });
    });
    this.readWelcome();
  }

  /** Ends the process, without a farewell when by SIGKILL; its database is then left running. Resolves when it is gone. */
  async kill(signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const child = this.running();
    this.child = null;
    if (signal === 'SIGKILL') this.killedByHand += 1;
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(EXIT_DEADLINE_MS) });
    child.kill(signal);
    const [code, by] = (await exited) as [number | null, NodeJS.Signals | null];
    return { code, signal: by };
  }

  /** Resolves when the process has ended by itself. */
  async exited(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const child = this.running();
    const exit = once(child, 'exit', { signal: AbortSignal.timeout(EXIT_DEADLINE_MS) });
    const [code, signal] = (await exit) as [number | null, NodeJS.Signals | null];
    if (this.child === child) this.child = null;
    return { code, signal };
  }

  /** The same state directory again, by `npm start`; kills it first where it still runs. */
  async restart(): Promise<void> {
    if (this.isRunning) await this.kill('SIGTERM');
    await this.start();
  }

  /** The same, unless it runs. */
  async startMissing(): Promise<void> {
    if (!this.isRunning) await this.start();
  }

  /** Ends it as an operator would, and removes a state directory of its own. */
  async stop(): Promise<void> {
    if (this.isRunning) await this.kill('SIGTERM');
    if (this.isOwnStateDir) await removeStateDir(this.stateDir);
  }

  call(method: string, path: string, call: Call = {}): Promise<Answer> {
    return callAt(this.baseUrl, method, path, call);
  }

  private running(): ChildProcess {
    if (!this.child) throw new Error('the service does not run');
    return this.child;
  }

  private readWelcome(): void {
    this.address = /is up at (\S+)/.exec(this.printed)?.[1] ?? '';
    const said = this.printed + this.takeSecrets();
    for (const label of ['organization', 'admin key', 'agent', 'agent key', 'seal key (--pin)']) {
      const pattern = new RegExp(`^ {2}${label.replace(/[()]/g, '\\$&')} {2,}(\\S+)$`, 'm');
      const value = pattern.exec(said)?.[1];
      // Secrets are shown at the first start alone; a restart keeps those.
      if (value !== undefined) this.shown.set(label, value);
    }
    const token = /\/auth\/confirm#token=(\S+)/.exec(said)?.[1];
    if (token !== undefined) this.shown.set(SIGN_IN_TOKEN, token);
  }

  /** As whoever starts it first is told to: read once, and removed. */
  private takeSecrets(): string {
    const file = join(this.stateDir, FIRST_SECRETS_FILE);
    if (!existsSync(file)) return '';
    const secrets = readFileSync(file, 'utf8');
    rmSync(file);
    return secrets;
  }

  private shownAs(label: string): string {
    const value = this.shown.get(label);
    if (value === undefined)
      throw new Error(`this start did not show the ${label}: the state directory had one already`);
    return value;
  }
}

/** One request to whatever answers there. */
export const callAt = async (
  baseUrl: string,
  method: string,
  path: string,
  { key, body, headers = {} }: Call = {},
): Promise<Answer> => {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: {
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Answer['json']) : {};
  const error = (json['error'] ?? {}) as Answer['error'];
  return { status: response.status, headers: response.headers, text, json, error };
};

/** Starts the service on a state directory of its own, empty but for a new database, (or on a given one) and waits until it says where it is. */
export const startService = async ({
  env = {},
  stateDir,
  program = START,
  openFiles,
}: ServiceOptions = {}): Promise<RunningService> => {
  const isOwn = stateDir === undefined;
  const service = new RunningService(stateDir ?? (await temporaryStateDir()), isOwn, env, program, openFiles);
  try {
    if (isOwn && !env['DATABASE_URL']) await layReadyDatabase(service.stateDir);
    await service.start();
    return service;
  } catch (error) {
    await service.stop();
    throw error;
  }
};
