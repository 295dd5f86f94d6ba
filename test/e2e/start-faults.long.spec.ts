import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FIRST_SECRETS_FILE } from '#libs/infra/deployment';
import { isRoot } from '../support/as-stranger.js';
import { environmentWith } from '../support/environment.js';
import { removeStateDir, ROOT, startService, temporaryStateDir } from '../support/service.js';

let stateDir: string;
beforeEach(async () => {
  stateDir = await temporaryStateDir();
});
afterEach(() => removeStateDir(stateDir));

/** A start that fails: its exit code and what it printed. */
const failedStart = async (settings: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const env = environmentWith({ SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0', ...settings });
  const child = spawn(process.execPath, [join(ROOT, 'scripts', 'run.mjs'), 'standalone', ...args], {
    cwd: ROOT,
    env,
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number];
  expect(stderr, 'a stack is no help').not.toMatch(/^ +at /m);
  return { code, stdout, stderr };
};

const listening = async (): Promise<Server> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
};

describe('a start that cannot be', () => {
  it('with arguments: says that there are none, and where settings come from', async () => {
    const { code, stdout, stderr } = await failedStart({}, '--port', '9000');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(/^--port 9000: .*takes no arguments.*SERVICE_PORT/);
    expect(await readdir(stateDir)).toEqual([]);
  });

  it('on a port in use: says which setting, and has kept the secrets all the same', async () => {
    const taken = await listening();
    const { port } = taken.address() as { port: number };
    const { code, stdout, stderr } = await failedStart({ SERVICE_PORT: String(port) });
    taken.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`cannot listen on 127\\.0\\.0\\.1:${port}.*SERVICE_PORT`));
    expect(stdout + stderr, 'said once, by us').not.toContain('EADDRINUSE');
    expect(stdout, 'what is no terminal may be collected').not.toMatch(/svc_(live|test)_/);
    const file = join(stateDir, FIRST_SECRETS_FILE);
    expect(stdout).toContain(file);
    const [kept, { mode }] = [await readFile(file, 'utf8'), await stat(file)];
    expect(kept).toMatch(/^ {2}admin key +svc_live_\w+\n {2}agent key +svc_test_\w+\n$/);
    expect(mode & 0o777).toBe(0o600);
    expect(stdout).not.toContain('is up at');
    expect(stderr, 'what they are worth').toMatch(
      /keys are made and stay valid; .* run `npm start` again[^]*cannot listen/,
    );
    expect(existsSync(join(stateDir, 'postgres', 'postmaster.pid')), 'its database is left running').toBe(false);
  });

  it.each([
    [
      'on a port in use',
      (port: number) => `127.0.0.1:${port}`,
      /Something else listens there\. .*the port in SERVICE_METRICS_/,
    ],
    ['on a host that nobody knows', () => 'nowhere.invalid:0', /No such name .*the host in SERVICE_METRICS_ADDRESS/],
  ])('with metrics %s: says which setting, and starts nothing', async (_title, address, said) => {
    const taken = await listening();
    const place = address((taken.address() as { port: number }).port);
    const { code, stderr } = await failedStart({ SERVICE_METRICS_ADDRESS: place });
    taken.close();
    expect(code).toBe(1);
    expect(stderr.startsWith(`Metrics cannot be served on ${place}. `), stderr).toBe(true);
    expect(stderr).toMatch(said);
    expect(existsSync(join(stateDir, 'postgres'))).toBe(false);
  });

  it('on a host that nobody knows: does not blame its database', async () => {
    const { code, stderr } = await failedStart({ SERVICE_HOST: 'nowhere.invalid' });
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot listen on nowhere\.invalid\. .*SERVICE_HOST/);
    expect(stderr).not.toContain('DATABASE_URL');
  });

  it('without its database: says where it looked', async () => {
    const closed = await listening();
    const { port } = closed.address() as { port: number };
    closed.close();
    const { code, stderr } = await failedStart({ DATABASE_URL: `postgres://nobody:secret@127.0.0.1:${port}/none` });
    expect(code).toBe(1);
    expect(stderr).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}.*DATABASE_URL`));
    expect(stderr).not.toContain('secret');
    expect(await readdir(stateDir), 'a refused start makes nothing').toEqual([]);
  });

  it.runIf(isRoot)('where PostgreSQL’s user cannot pass through: makes nothing', async () => {
    const closed = join(stateDir, 'closed');
    await mkdir(closed, { mode: 0o700 });
    const { code, stderr } = await failedStart({ SERVICE_STATE_DIR: join(closed, 'a', 'state') });
    expect([code, await readdir(closed)]).toEqual([1, []]);
    expect(stderr).toContain('cannot pass through');
  });

  it('under the slip of a setting’s name: says which is meant, and makes nothing', async () => {
    const { code, stdout, stderr } = await failedStart({ SERVICE_PROT: '9000' });
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain('SERVICE_PROT is not a setting; did you mean SERVICE_PORT?');
    expect(existsSync(join(stateDir, 'keys'))).toBe(false);
  });

  it('tells of variables that are no settings, and does not fail for them', async () => {
    const { stdout, stderr } = await failedStart({ SERVICE_TAGS: 'web', DATABASE_URL: 'postgres://x@127.0.0.1:9/x' });
    expect(stdout).toMatch(/level=warn .*variable=SERVICE_TAGS .*not a setting/);
    expect(stderr).toContain('DATABASE_URL');
  });

  it('in a state directory that is a file: says so', async () => {
    const file = join(stateDir, 'file');
    await writeFile(file, '');
    const { code, stderr } = await failedStart({ SERVICE_STATE_DIR: file });
    expect(code).toBe(1);
    expect(stderr).toMatch(/cannot be used: .*SERVICE_STATE_DIR/);
  });
});

describe('a deployment that lost a key file', () => {
  it.each(['vault.key', 'pepper.key'])('%s: does not start under a new one, nor leave one behind', async (name) => {
    const service = await startService({ stateDir, env: { LOG_LEVEL: 'error' } });
    await service.kill('SIGTERM');
    const file = join(stateDir, 'keys', name);
    await rename(file, `${file}.kept`);
    for (let tries = 0; tries < 2; tries += 1) {
      const { code, stderr } = await failedStart({});
      expect([code, existsSync(file)]).toEqual([1, false]);
      expect(stderr).toContain(`${file} is missing. Restore it from your backup`);
    }
    await rm(file, { force: true });
    await rename(`${file}.kept`, file);
    await service.start();
    const body = { tool: 'crm.get_customer', args: {} };
    const answer = await service.call('POST', '/v1/actions', { key: service.agentKey, body });
    expect(answer.error['code']).toBe('tool_unknown');
    await service.stop();
  });
});
