import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { startEmbeddedPostgres } from '#libs/infra/postgres';
import { environmentWith } from '../support/environment.js';
import { postmasterPidIn } from '../support/own-server.js';
import { layReadyDatabase } from '../support/ready-database.js';
import { runAgs } from '../support/run-ags.js';
import { objectsIn } from '../support/run-program.js';
import { removeStateDir, ROOT, temporaryStateDir } from '../support/service.js';
import { silentLogger } from '../support/silent-logger.js';

const SOON = { timeout: 20_000, interval: 5 };

let stateDir: string;

beforeAll(async () => {
  stateDir = await temporaryStateDir();
  await layReadyDatabase(stateDir);
  expect(await runAgs(['init'], { env: { SERVICE_STATE_DIR: stateDir } })).toMatchObject({ code: 0 });
});
afterAll(() => removeStateDir(stateDir));

interface StartedCommand {
  readonly child: ChildProcess;
  /** Everything there is to know once it has ended. */
  ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null; stdout: string; stderr: string }>;
}

const start = (args: readonly string[], where = stateDir): StartedCommand => {
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'cli', ...args, '--json'], {
    cwd: ROOT,
    env: environmentWith({ SERVICE_STATE_DIR: where, SERVICE_PORT: '0' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  return {
    child,
    ended: async () => {
      const [[code, signal], [stdout, stderr]] = await Promise.all([closed, printed]);
      return { code, signal, stdout, stderr };
    },
  };
};

/** What a server says of itself in its postmaster.pid. */
const STATUS_LINE = 7;
const saysReady = (): boolean =>
  readFileSync(join(stateDir, 'postgres', 'postmaster.pid'), 'utf8')
    .split('\n')
    [STATUS_LINE]?.trim() === 'ready';

/** A command, and the server that it starts for itself, held up before it can answer: the command waits for it. */
const startHeldUp = async (args: readonly string[]): Promise<{ command: StartedCommand; server: number }> => {
  for (;;) {
    const command = start(args);
    const server = await vi.waitFor(() => {
      const found = postmasterPidIn(stateDir);
      expect(found).toBeGreaterThan(0);
      return found;
    }, SOON);
    process.kill(server, 'SIGSTOP');
    if (!saysReady()) return { command, server };
    // Too late: it may have answered already.
    command.child.kill('SIGKILL');
    process.kill(server, 'SIGCONT');
    await command.ended();
    await (await startEmbeddedPostgres({ stateDir, log: silentLogger })).release();
  }
};

const isServerLeft = (where = stateDir): boolean => existsSync(join(where, 'postgres', 'postmaster.pid'));

describe('a command that is interrupted while no service runs', () => {
  it.each([
    [['audit'], 'SIGINT'],
    [['audit'], 'SIGTERM'],
    [['projections', 'rebuild'], 'SIGTERM'],
    [['agents', 'list'], 'SIGINT'],
    [['keys', 'create', '--admin'], 'SIGINT'],
    [['seal-keys', 'list'], 'SIGTERM'],
    [['events', 'export'], 'SIGINT'],
    [['doctor'], 'SIGHUP'],
  ] as const)('%j ends at %s, says so and leaves no database running', async (args, signal) => {
    const { command, server } = await startHeldUp(args);
    command.child.kill(signal);
    process.kill(server, 'SIGCONT');
    const { code, stderr } = await command.ended();
    expect([code, objectsIn(stderr)]).toEqual([
      1,
      [{ object: 'error', code: 'interrupted', message: expect.stringContaining('It was interrupted') }],
    ]);
    expect(isServerLeft()).toBe(false);
  });

  it('makes no key', async () => {
    const { objects } = await runAgs(['keys', 'list', '--admin', '--json'], { env: { SERVICE_STATE_DIR: stateDir } });
    expect(objects).toHaveLength(1);
  });

  it('takes what npm hands on for the same Ctrl-C', async () => {
    const { command, server } = await startHeldUp(['audit']);
    command.child.kill('SIGINT');
    command.child.kill('SIGTERM');
    process.kill(server, 'SIGCONT');
    expect(await command.ended()).toMatchObject({ code: 1, signal: null });
    expect(isServerLeft()).toBe(false);
  });

  it('is a tail that ends as its end is: with 0, and silently', async () => {
    const { command, server } = await startHeldUp(['events', 'tail']);
    command.child.kill('SIGINT');
    process.kill(server, 'SIGCONT');
    expect(await command.ended()).toEqual({ code: 0, signal: null, stdout: '', stderr: '' });
    expect(isServerLeft()).toBe(false);
  });

  it('ends at once when it is interrupted again', async () => {
    const { command, server } = await startHeldUp(['audit']);
    const ended = command.ended();
    await vi.waitFor(() => {
      command.child.kill('SIGTERM');
      expect(command.child.signalCode).toBe('SIGTERM');
    }, SOON);
    process.kill(server, 'SIGCONT');
    expect(await ended).toMatchObject({ code: null, signal: 'SIGTERM' });
  });
});

describe('ags init, interrupted while it makes the database', () => {
  it('leaves none running, has made no secret, and goes on where it ended when it is run again', async () => {
    const folder = await temporaryStateDir();
    const command = start(['init'], folder);
    await vi.waitFor(
      () => expect(readdirSync(folder).some((name) => name.startsWith('postgres.new-'))).toBe(true),
      SOON,
    );
    command.child.kill('SIGINT');
    const { code, stdout, stderr } = await command.ended();
    expect([code, objectsIn(stdout).at(-1)]).toEqual([1, { step: 'database', status: 'done' }]);
    expect(objectsIn(stderr)).toMatchObject([{ code: 'interrupted' }]);
    expect(isServerLeft(folder)).toBe(false);
    const again = await runAgs(['init', '--json'], { env: { SERVICE_STATE_DIR: folder } });
    expect(again).toMatchObject({ code: 0 });
    expect(again.objects.at(-1)?.['admin_key']).toMatch(/^svc_live_/);
    await removeStateDir(folder);
  });
});
