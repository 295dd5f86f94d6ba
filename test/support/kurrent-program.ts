import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.js';

const START_DEADLINE_MS = 60_000;

/** The server's program, EventStore.ClusterNode or its successor, where this machine has one. */
export const kurrentProgram = (): string | null => process.env.KURRENTDB_PROGRAM ?? null;

/** A real EventStoreDB or KurrentDB of the test's own: one node, on disk, without TLS, on a port that stays the same. */
export class KurrentProgram {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly program: string,
    readonly port: number,
    private readonly replicationPort: number,
    private readonly folder: string,
  ) {}

  static async start(program: string): Promise<KurrentProgram> {
    const folder = await mkdtemp(join(tmpdir(), 'ags-kurrent-'));
    const server = new KurrentProgram(program, await freePort(), await freePort(), folder);
    await server.start();
    return server;
  }

  get url(): string {
    return `esdb://127.0.0.1:${this.port}?tls=false`;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error(`${this.program} does not run`);
    return this.child.pid;
  }

  async start(): Promise<void> {
    const places = [`--db=${join(this.folder, 'db')}`, `--log=${join(this.folder, 'log')}`];
    const ports = [`--node-port=${this.port}`, `--replication-port=${this.replicationPort}`];
    const hosts = ['--node-ip=127.0.0.1', '--replication-ip=127.0.0.1'];
    const options = ['--insecure', '--disable-log-file', '--run-projections=None', ...places, ...ports, ...hosts];
    const env = { ...process.env, EVENTSTORE_TELEMETRY_OPTOUT: 'true', KURRENTDB_TELEMETRY_OPTOUT: 'true' };
    this.child = spawn(this.program, options, { stdio: 'ignore', env });
    await this.untilLeader();
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(name);
  }

  /** By kill -9, or as its administrator stops it. */
  async kill(signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  /** As a backup of a stopped server; it takes the place of the one before. */
  async saveFiles(): Promise<void> {
    await rm(join(this.folder, 'saved'), { recursive: true, force: true });
    await cp(join(this.folder, 'db'), join(this.folder, 'saved'), { recursive: true });
  }

  /** The server, stopped, has what was saved and nothing else. */
  async restoreFiles(): Promise<void> {
    await rm(join(this.folder, 'db'), { recursive: true });
    await cp(join(this.folder, 'saved'), join(this.folder, 'db'), { recursive: true });
  }

  /** For good. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** It answers requests before, but not yet as leader. */
  private async untilLeader(): Promise<void> {
    for (const startedAt = performance.now(); performance.now() - startedAt < START_DEADLINE_MS;) {
      if (this.child?.exitCode !== null) throw new Error(`${this.program} ended with ${this.child?.exitCode}`);
      if ((await this.state()) === 'leader') return;
      await delay(50);
    }
    throw new Error(`${this.program} did not become leader`);
  }

  /** Null as long as nobody answers. */
  private async state(): Promise<string | null> {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.port}/info`);
      return ((await answer.json()) as { state?: string }).state ?? null;
    } catch {
      return null;
    }
  }
}
