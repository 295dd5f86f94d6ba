import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePorts } from './free-port.js';

const START_DEADLINE_MS = 60_000;
/** One that is paused takes the question, and does not answer. */
const ANSWER_LIMIT_MS = 1_000;

/** The server's program, EventStore.ClusterNode or its successor, where this machine has one. */
export const kurrentProgram = (): string | null => process.env.KURRENTDB_PROGRAM ?? null;

export interface KurrentPlace {
  readonly port: number;
  readonly replicationPort: number;
  readonly folder: string;
}

export interface KurrentProgramOptions {
  /** Beside those of every server here. */
  readonly options?: readonly string[];
  /** As by a supervisor: where the server ends by itself and says that all is well, it is started again. */
  readonly isSupervised?: boolean;
}

/** A real EventStoreDB or KurrentDB of the test's own: one node, on disk, without TLS, on a port that stays the same. */
export class KurrentProgram {
  private child: ChildProcess | null = null;
  private isMeantToRun = false;

  constructor(
    private readonly program: string,
    private readonly place: KurrentPlace,
    private readonly settings: KurrentProgramOptions = {},
  ) {}

  static async start(program: string): Promise<KurrentProgram> {
    const [port, replicationPort] = (await freePorts(2)) as [number, number];
    const folder = await mkdtemp(join(tmpdir(), 'ags-kurrent-'));
    const server = new KurrentProgram(program, { port, replicationPort, folder });
    await server.start();
    return server;
  }

  get port(): number {
    return this.place.port;
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error(`${this.program} does not run`);
    return this.child.pid;
  }

  get isRunning(): boolean {
    return this.child !== null && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Resolves when it takes appends. */
  async start(): Promise<void> {
    this.launch();
    // It answers requests before, but not yet as leader.
    await untilServed(`${this.program} does not lead`, async () => ((await this.state()) === 'leader' ? true : null));
  }

  /** Waits for nothing. */
  launch(): void {
    const { folder, port, replicationPort } = this.place;
    const places = [`--db=${join(folder, 'db')}`, `--log=${join(folder, 'log')}`];
    const ports = [`--node-port=${port}`, `--replication-port=${replicationPort}`];
    const hosts = ['--node-ip=127.0.0.1', '--replication-ip=127.0.0.1'];
    const options = ['--insecure', '--disable-log-file', '--run-projections=None', ...places, ...ports, ...hosts];
    const env = { ...process.env, EVENTSTORE_TELEMETRY_OPTOUT: 'true', KURRENTDB_TELEMETRY_OPTOUT: 'true' };
    this.child = spawn(this.program, [...options, ...(this.settings.options ?? [])], { stdio: 'ignore', env });
    this.isMeantToRun = true;
    this.child.once('exit', (code) => {
      if (this.settings.isSupervised && this.isMeantToRun && code === 0) this.launch();
    });
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(name);
  }

  /** By kill -9, or as its administrator stops it. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    this.isMeantToRun = false;
    const { child } = this;
    if (child === null || !this.isRunning) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  /** As a backup of a stopped server; it takes the place of the one before. */
  async saveFiles(): Promise<void> {
    await rm(join(this.place.folder, 'saved'), { recursive: true, force: true });
    await cp(join(this.place.folder, 'db'), join(this.place.folder, 'saved'), { recursive: true });
  }

  /** The server, stopped, has what was saved and nothing else. */
  async restoreFiles(): Promise<void> {
    await rm(join(this.place.folder, 'db'), { recursive: true });
    await cp(join(this.place.folder, 'saved'), join(this.place.folder, 'db'), { recursive: true });
  }

  /** For good. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.place.folder, { recursive: true, force: true });
  }

  /**
   * As it says itself: `leader`, `follower`, or on the way there. Null while it says nothing.
   *
   * @throws it has ended
   */
  async state(): Promise<string | null> {
    if (!this.isRunning) throw new Error(`${this.program} ended with ${this.child?.exitCode}`);
    return nodeState(this.port);
  }
}

/** As a node says itself: `leader`, `follower`, or on the way there. Null while it says nothing. */
export const nodeState = async (port: number): Promise<string | null> => {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/info`, { signal: AbortSignal.timeout(ANSWER_LIMIT_MS) });
    return ((await answer.json()) as { state?: string }).state ?? null;
  } catch {
    return null;
  }
};

/** @param what is waited for, as the failure says it */
export const untilServed = async <Found>(what: string, find: () => Promise<Found | null>): Promise<Found> => {
  for (const startedAt = performance.now(); performance.now() - startedAt < START_DEADLINE_MS;) {
    const found = await find();
    if (found !== null) return found;
    await delay(50);
  }
  throw new Error(`${what} for too long`);
};
