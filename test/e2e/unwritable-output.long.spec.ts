import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { environmentWith } from '../support/environment.js';
import { freePort } from '../support/free-port.js';
import { layReadyDatabase } from '../support/ready-database.js';
import { runAgs } from '../support/run-ags.js';
import { removeStateDir, ROOT, temporaryStateDir } from '../support/service.js';

const SOON = { timeout: 60_000, interval: 50 };
const RUN = join(ROOT, 'scripts', 'run.mjs');
const isFullThere = existsSync('/dev/full');
const hasPython = spawnSync('python3', ['--version']).status === 0;

let stateDir: string;
let env: NodeJS.ProcessEnv;
let port: number;
let child: ChildProcess | null = null;

beforeEach(async () => {
  stateDir = await temporaryStateDir();
  await layReadyDatabase(stateDir);
  port = await freePort();
  env = environmentWith({ SERVICE_STATE_DIR: stateDir, SERVICE_PORT: String(port), LOG_LEVEL: 'info' });
  expect(await runAgs(['init'], { env })).toMatchObject({ code: 0 });
});
afterEach(async () => {
  child?.kill('SIGKILL');
  await removeStateDir(stateDir);
});

const isServerThere = (): boolean => existsSync(join(stateDir, 'postgres', 'postmaster.pid'));
const health = (): Promise<number> =>
  fetch(`http://127.0.0.1:${port}/v1/health`).then(
    async (response) => {
      await response.arrayBuffer();
      return response.status;
    },
    () => 0,
  );

describe('a service whose log cannot be written', () => {
  it.runIf(isFullThere)('goes on where the disk is full, and ends as it was told to', async () => {
    const full = openSync('/dev/full', 'w');
    child = spawn(process.execPath, [RUN, 'standalone'], { cwd: ROOT, env, stdio: ['ignore', full, full] });
    closeSync(full);
    const ended = once(child, 'close');
    await vi.waitFor(async () => expect(await health()).toBe(200), SOON);
    for (let call = 0; call < 50; call += 1) expect(await health()).toBe(200);
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(isServerThere()).toBe(false);
  });
});

/** In a terminal of its own, which is closed when this process is killed. */
const IN_TERMINAL = `
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while True:
    os.read(terminal, 65536)
`;

describe.runIf(hasPython)('a terminal that is closed', () => {
  const startInTerminal = (...args: readonly string[]): ChildProcess =>
    spawn('python3', ['-c', IN_TERMINAL, process.execPath, RUN, ...args], { cwd: ROOT, env, stdio: 'ignore' });

  it('stops the service in it: what runs may finish, and no database is left', async () => {
    child = startInTerminal('standalone');
    await vi.waitFor(async () => expect(await health()).toBe(200), SOON);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(isServerThere()).toBe(false), SOON);
    expect(await health()).toBe(0);
  });

  it('ends the command in it, and no database is left', async () => {
    child = startInTerminal('cli', 'events', 'tail');
    await vi.waitFor(() => expect(isServerThere()).toBe(true), SOON);
    child.kill('SIGKILL');
    await vi.waitFor(() => expect(isServerThere()).toBe(false), SOON);
  });
});
