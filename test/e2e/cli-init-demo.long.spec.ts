import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isEmbeddedPostgresRunning } from '#libs/infra/postgres';
import { runAgs, type AgsRun } from '../support/run-ags.js';
import { removeStateDir, temporaryStateDir } from '../support/service.js';

const PREPARATION = ['state_directory', 'keys', 'database', 'seal_key', 'organization', 'admin_key', 'agent', 'policy'];
const OF_DEMO = ['demo_database', 'server', 'demo_connector', 'smoke_query', 'smoke_refusal', 'smoke_approval'];

let stateDir: string;
let first: AgsRun;

beforeAll(async () => {
  stateDir = await temporaryStateDir();
  first = await init();
});
afterAll(() => removeStateDir(stateDir));

const init = (...args: string[]): Promise<AgsRun> =>
  runAgs(['init', '--json', ...args], { env: { SERVICE_STATE_DIR: stateDir, SERVICE_DEMO: 'on' } });
const steps = ({ objects }: AgsRun): readonly unknown[] => objects.slice(0, -1).map(({ step }) => step);
const statusOf = ({ objects }: AgsRun, wanted: string): unknown =>
  objects.find(({ step }) => step === wanted)?.['status'];
const saidOf = ({ objects }: AgsRun, wanted: string): unknown => objects.find(({ step }) => step === wanted)?.['said'];

describe('ags init with the demo database', () => {
  it('makes it, starts a service, and goes through every step in the order that is documented', () => {
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(steps(first)).toEqual([...PREPARATION, ...OF_DEMO]);
    expect(['demo_database', 'server'].map((step) => statusOf(first, step))).toEqual(['done', 'done']);
    expect(first.objects.at(-1)).toMatchObject({ object: 'init', agent_key: expect.stringMatching(/^svc_test_/) });
  });

  it('shows an allowed query, a refused DELETE, and an approved UPDATE that the change log confirms', () => {
    expect(saidOf(first, 'smoke_query')).toMatch(/^demo\.query "SELECT .*" → executed: 20 customers, sealed as deed_/);
    expect(saidOf(first, 'smoke_refusal')).toMatch(
      /^demo\.execute "DELETE FROM refunds" → policy_denied: Agents delete no rows /,
    );
    expect(saidOf(first, 'smoke_approval')).toMatch(
      /VERIFIED at L2 by the change log, 1 changed row \(public\.refunds: status requested → paid\), sealed as deed_/,
    );
    expect(OF_DEMO.slice(2).map((step) => statusOf(first, step))).toEqual(['done', 'done', 'done', 'done']);
  });

  it('lets go of both databases and of the service, and keeps no log of what went well', async () => {
    expect(await isEmbeddedPostgresRunning(stateDir)).toBe(false);
    expect(await isEmbeddedPostgresRunning(stateDir, 'demo')).toBe(false);
    expect(existsSync(join(stateDir, 'init.log'))).toBe(false);
    expect((await stat(join(stateDir, 'demo', 'smoke-run.json'))).mode & 0o777).toBe(0o600);
  });

  it('prints no password of a role', async () => {
    const secret = await readFile(join(stateDir, 'demo', 'postgres.password'), 'utf8');
    expect(first.stdout).not.toContain(secret);
    expect(first.stdout).not.toMatch(/password/i);
  });

  it('run again, makes nothing anew and tries nothing twice', async () => {
    const again = await init();
    expect(again).toMatchObject({ code: 0, stderr: '' });
    const remade = again.objects.slice(0, -1).filter(({ status }) => status !== 'skipped');
    expect(remade).toEqual([]);
  });

  it('says which step failed and still shows the secrets, where the demo database cannot run', async () => {
    const broken = await temporaryStateDir();
    const env = { SERVICE_STATE_DIR: broken, SERVICE_DEMO: 'on' };
    expect(await runAgs(['init'], { env: { ...env, SERVICE_DEMO: 'off' } })).toMatchObject({ code: 0 });
    expect(existsSync(join(broken, 'demo'))).toBe(false);
    await writeFile(join(broken, 'demo'), 'a file where the folder should be');
    const run = await runAgs(['init', '--json'], { env });
    expect(run.code).toBe(1);
    expect(statusOf(run, 'demo_database')).toBe('failed');
    expect(steps(run).at(-1)).toBe('demo_database');
    expect(run.objects.at(-1)).toMatchObject({ object: 'init' });
    await removeStateDir(broken);
  });
});
