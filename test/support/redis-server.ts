import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';

const PROGRAM = 'redis-server';
const START_DEADLINE_MS = 10_000;

/** Debian's package `redis-server` brings it; `.ci/run` installs that. */
export const hasRedisServer = (): boolean => spawnSync(PROGRAM, ['--version'], { stdio: 'ignore' }).status === 0;

export const NO_REDIS = 'redis-server is not on the PATH: skipped';

/** A server of the test's own, with a port that stays the same when it is started again. */
export class RedisServer {
  private child: ChildProcess | null = null;

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly options: readonly string[],
  ) {}

  static async start(...options: readonly string[]): Promise<RedisServer> {
    const folder = await mkdtemp(join(tmpdir(), 'ags-redis-'));
    const server = new RedisServer(await freePort(), folder, options);
    await server.start();
    return server;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  get pid(): number {
    if (this.child?.pid === undefined) throw new Error('redis-server does not run');
    return this.child.pid;
  }

  async start(): Promise<void> {
    const place = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''];
    const child = spawn(PROGRAM, [...place, ...this.options], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.child = child;
    await new Promise<void>((resolve, reject) => {
      const deadline = setTimeout(() => reject(new Error('redis-server did not start')), START_DEADLINE_MS);
      let printed = '';
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}:\n${printed}`)));
      child.stdout.on('data', (chunk: Buffer) => {
        printed += chunk.toString();
        if (!/Ready to accept connections/.test(printed)) return;
        clearTimeout(deadline);
        resolve();
      });
    });
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.child?.kill(name);
  }

  /** By kill -9. */
  async kill(): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }

  /** For good. */
  async stop(): Promise<void> {
    await this.kill();
    await rm(this.folder, { recursive: true, force: true });
  }
}
