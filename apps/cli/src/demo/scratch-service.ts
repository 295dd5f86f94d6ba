import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FIRST_SECRETS_FILE } from '#libs/infra/deployment';
import { programFile } from '#libs/infra/runtime';
import type { ClockMove } from './console/clock-move.js';

const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 20_000;

export interface Request {
  readonly key: string;
  readonly body?: object;
  readonly idempotencyKey?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: Json;
}

/** What the API answers, read member by member: what is not there is undefined, and refutes the claim about it. */
export type Json = Readonly<Record<string, unknown>>;

export const member = (json: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), json);

const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null;

export interface ScratchOptions {
  /** How far its time of day is from the machine's, until `moveClock`; its clock is the machine's unless given. */
  readonly clockShiftMs?: number;
}

/** The real service, a process of its own. */
export class ScratchService {
  private child: ChildProcess | null = null;
  private baseUrl = '';
  private readonly log: WriteStream;
  private said = '';

  constructor(
    private readonly environment: Readonly<Record<string, string>>,
    logFile: string,
    private readonly options: ScratchOptions = {},
  ) {
    this.log = createWriteStream(logFile, { flags: 'a' });
  }

  /** Resolves when it says where it is. */
  async start(): Promise<void> {
    const child = this.spawn();
    this.child = child;
    const { stdout, stderr } = child;
    if (stdout === null || stderr === null) throw new Error('The service has no standard output.');
    for (const output of [stdout, stderr]) {
      output.setEncoding('utf8').on('data', (text: string) => (this.said += text));
      output.pipe(this.log, { end: false });
    }
    let deadline: NodeJS.Timeout | undefined;
    this.baseUrl = await new Promise<string>((resolve, reject) => {
      let printed = '';
      deadline = setTimeout(() => reject(new Error('The service did not start in time.')), START_DEADLINE_MS);
      child.once('exit', (code, signal) => reject(new Error(`The service ended with ${code ?? signal ?? 'nothing'}.`)));
      stdout.on('data', (text: string) => {
        printed += text;
        const [, url] = /is up at (\S+)\n/.exec(printed) ?? [];
        if (url !== undefined) resolve(url);
      });
    }).finally(() => clearTimeout(deadline));
  }

  private spawn(): ChildProcess {
    const { clockShiftMs } = this.options;
    const [program, env] = [programFile('standalone'), this.environment];
    if (clockShiftMs === undefined) {
      return spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    }
    const child = spawn(process.execPath, ['--import', programFile('moved-clock'), program], {
      env,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    child.send({ shiftMs: clockShiftMs } satisfies ClockMove);
    return child;
  }

  get url(): string {
    return this.baseUrl;
  }

  /** Resolves when its time of day is so far from the machine's. Only one at a time. */
  async moveClock(shiftMs: number): Promise<void> {
    const { child } = this;
    if (child === null) throw new Error('The service does not run.');
    const moved = once(child, 'message');
    child.send({ shiftMs } satisfies ClockMove);
    await moved;
  }

  /** All that it has printed, its log included. */
  get printed(): string {
    return this.said;
  }

  /** What the first start has kept for whoever started it. */
  firstSecrets(): Promise<string> {
    return readFile(join(this.environment['SERVICE_STATE_DIR'] ?? '', FIRST_SECRETS_FILE), 'utf8');
  }

  /** kill -9: no farewell, nothing is written down any more. */
  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
    await new Promise((resolve) => this.log.end(resolve));
  }

  call(method: string, path: string, { key, body, idempotencyKey }: Request): Promise<Answer> {
    const headers = {
      authorization: `Bearer ${key}`,
      ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
    };
    return this.request(method, path, headers, body);
  }

  /** With no headers but these, and those of a JSON body. */
  async request(
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body?: object,
  ): Promise<Answer> {
    const response = await fetch(`${this.baseUrl}${path}`, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Json };
  }

  async download(path: string, key: string): Promise<Buffer> {
    const response = await fetch(`${this.baseUrl}${path}`, { headers: { authorization: `Bearer ${key}` } });
    if (!response.ok) throw new Error(`GET ${path} answered ${response.status}.`);
    return Buffer.from(await response.arrayBuffer());
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    const { child } = this;
    this.child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit', { signal: AbortSignal.timeout(STOP_DEADLINE_MS) });
    child.kill(signal);
    await exited;
  }
}
