import { existsSync } from 'node:fs';
import { stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAgs, type AgsRun } from '../support/run-ags.js';
import { removeStateDir, temporaryStateDir } from '../support/service.js';

const STEPS = ['state_directory', 'keys', 'database', 'seal_key', 'organization', 'admin_key', 'agent', 'policy'];

let folder: string;
let stateDir: string;

beforeAll(async () => {
  folder = await temporaryStateDir();
  // Not there yet: init makes it.
  stateDir = join(folder, 'state');
});

afterAll(() => removeStateDir(folder));

const ags = (...args: string[]): Promise<AgsRun> => runAgs(args, { env: { SERVICE_STATE_DIR: stateDir } });

/** Every line but the last, as step → status. */
const stepsOf = ({ objects }: AgsRun): unknown[] => objects.slice(0, -1);

describe('ags init', () => {
  it('is needed first: before it nothing is made, and the next step is named', async () => {
    const run = await ags('keys', 'list', '--json');
    expect(run).toMatchObject({ code: 2, stdout: '', error: { object: 'error', code: 'not_initialized' } });
    expect(run.error['message']).toContain('npm run ags -- init');
    await expect(stat(stateDir)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('makes everything, shows the secrets once, and lets go of the database', async () => {
    const run = await ags('init', '--json');
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(stepsOf(run)).toEqual(STEPS.map((step) => ({ step, status: 'done' })));
    const { object, state_dir, ...result } = run.objects.at(-1) ?? {};
    expect([object, state_dir]).toEqual(['init', stateDir]);
    expect(Object.keys(result)).toEqual([
      'org',
      'owner',
      'admin_key',
      'sign_in_link',
      'agent',
      'agent_key',
      'seal_key_fingerprint',
    ]);
    expect(result).toEqual({
      org: expect.stringMatching(/^org_[0-7]/),
      owner: expect.stringMatching(/^usr_/),
      admin_key: expect.stringMatching(/^svc_live_/),
      sign_in_link: expect.stringMatching(/\/auth\/confirm#token=[\w-]{43}$/),
      agent: expect.stringMatching(/^agt_/),
      agent_key: expect.stringMatching(/^svc_test_/),
      seal_key_fingerprint: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    await expect(stat(join(stateDir, 'postgres', 'postmaster.pid'))).rejects.toMatchObject({ code: 'ENOENT' });
    const modes = await Promise.all(
      ['keys', 'keys/vault.key', 'keys/pepper.key'].map(
        async (path) => (await stat(join(stateDir, path))).mode & 0o777,
      ),
    );
    expect(modes).toEqual([0o700, 0o600, 0o600]);
  });

  it('run again leaves everything as it is and shows no secret', async () => {
    const run = await ags('init', '--json');
    expect(run.code).toBe(0);
    expect(stepsOf(run)).toEqual(STEPS.map((step) => ({ step, status: 'skipped' })));
    expect(run.objects.at(-1)).toMatchObject({ object: 'init', admin_key: null, agent_key: null });
  });

  it('without --json says the same for a person', async () => {
    const { code, stdout } = await ags('init');
    expect(code).toBe(0);
    expect(stdout).toMatch(/skipped {2}seal key/);
    expect(stdout).toMatch(/organization {2,}org_/);
    expect(stdout).not.toMatch(/svc_(live|test)_/);
    const steps = [...stdout.matchAll(/`npm run ags -- (.*?)`/g)].map(([, step = '']) => step.split(' '));
    expect(steps).toHaveLength(3);
    for (const step of steps) expect(await ags(...step)).toMatchObject({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      / {2}`npm start` serves it\. MCP clients connect to it \(docs\/mcp\.md\), .*\n\n {2}claude mcp add .*\n$/,
    );
  });

  it('names the programs where several share a Redis', async () => {
    const { code, stdout } = await runAgs(['init'], {
      env: { SERVICE_STATE_DIR: stateDir, REDIS_URL: 'redis://127.0.0.1:1' },
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/ {2}`npm run start:api`, `start:worker` and `start:projector` serve it\. MCP clients /);
  });

  it('names the step that failed, says what to do, and ends with 1', async () => {
    const taken = join(folder, 'taken');
    await writeFile(taken, 'a file where the folder should be');
    const run = await runAgs(['init', '--json'], { env: { SERVICE_STATE_DIR: taken } });
    expect(run).toMatchObject({ code: 1, object: { step: 'state_directory', status: 'failed' } });
    expect(run.objects).toHaveLength(1);
    expect(run.error).toMatchObject({ object: 'error', code: 'file_unusable' });
    expect(run.error['message']).toContain(taken);
  });

  it('without its pepper refuses to go on with another one', async () => {
    const env = { SERVICE_STATE_DIR: stateDir, SERVICE_PEPPER_FILE: join(folder, 'short.key') };
    await writeFile(env.SERVICE_PEPPER_FILE, 'too short', { mode: 0o600 });
    const run = await runAgs(['keys', 'list', '--json'], { env });
    expect(run).toMatchObject({ code: 2, error: { code: 'secrets_unusable' } });
    expect(run.error['message']).toContain('32 bytes');
  });

  it('with a database nobody answers at ends with 1 and does not say its password', async () => {
    const env = { SERVICE_STATE_DIR: join(folder, 'other'), DATABASE_URL: 'postgres://ags:canary@127.0.0.1:9/service' };
    const run = await runAgs(['init', '--json'], { env });
    expect(run.code).toBe(1);
    expect(run.objects.at(-1)).toEqual({ step: 'database', status: 'failed' });
    expect(run.error).toMatchObject({ code: 'database_unavailable' });
    expect(run.stdout + run.stderr).not.toContain('canary');
    expect(existsSync(env.SERVICE_STATE_DIR), 'a refused command changes nothing').toBe(false);
  });
});
