import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { environmentWith } from '../support/environment.js';
import { FleetProcess, type ProgramName } from '../support/fleet-process.js';
import { runAgs } from '../support/run-ags.js';
import { callAt, removeStateDir, temporaryStateDir } from '../support/service.js';

const PROGRAMS: readonly ProgramName[] = ['api', 'worker', 'projector'];
const COMMANDS = [
  'agents list',
  'org list',
  'keys list',
  'keys create --admin',
  'seal-keys list',
  'audit',
  'events export',
  'projections rebuild',
  'migrate events --to database',
];

let database: TestDatabase;
let stateDir: string;
let env: NodeJS.ProcessEnv;
/** Another machine, to which no key file was copied. */
let keyless: string;

beforeAll(async () => {
  database = await createTestDatabase();
  stateDir = await temporaryStateDir();
  // As for several machines: the key files are made first, by hand.
  await mkdir(join(stateDir, 'keys'), { mode: 0o700 });
  for (const name of ['vault.key', 'pepper.key']) {
    await writeFile(join(stateDir, 'keys', name), randomBytes(32), { mode: 0o600 });
  }
  keyless = await temporaryStateDir();
  env = environmentWith({ SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0', DATABASE_URL: database.connectionString });
});
afterAll(async () => {
  await database?.drop();
  await removeStateDir(stateDir);
  await removeStateDir(keyless);
});

const onKeyless = (...args: string[]) => runAgs([...args, '--json'], { env: { ...env, SERVICE_STATE_DIR: keyless } });

const tables = async (): Promise<number> => {
  const client = new pg.Client({ connectionString: database.connectionString });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  await client.end();
  return rows[0]?.count ?? 0;
};

describe('before ags init', () => {
  it.each(COMMANDS)('ags %s says that there is nothing yet, and makes nothing', async (command) => {
    const before = await tables();
    const run = await runAgs([...command.split(' '), '--json'], { env });
    expect(run).toMatchObject({ code: 2, stdout: '', error: { code: 'not_initialized' } });
    expect(run.error['message']).toContain('npm run ags -- init');
    expect(await tables()).toBe(before);
  });

  it('says the same where the key files are missing, too', async () => {
    expect(await onKeyless('agents', 'list')).toMatchObject({ code: 2, error: { code: 'not_initialized' } });
  });

  it('each process says so once, and serves when it was run, without another start', async () => {
    const processes: FleetProcess[] = [];
    try {
      for (const program of PROGRAMS) processes.push(await FleetProcess.start(program, env));
      for (const { stdout } of processes) {
        const lines = stdout.split('\n').filter((line) => line.includes('init has not been run'));
        expect(lines).toEqual([expect.stringMatching(/^level=warn .*npm run ags -- init/)]);
      }
      expect(await runAgs(['agents', 'list', '--json'], { env })).toMatchObject({
        code: 2,
        error: { code: 'not_initialized' },
      });
      const { code, objects, stderr } = await runAgs(['init', '--json'], { env });
      expect([code, stderr]).toEqual([0, '']);
      const key = String(objects.at(-1)?.['agent_key']);
      const baseUrl = processes[0]?.baseUrl ?? '';
      const call = () =>
        callAt(baseUrl, 'POST', '/v1/actions', { key, body: { tool: 'crm.get_customer', args: { id: '42' } } });
      await vi.waitFor(
        async () => expect(await call()).toMatchObject({ status: 404, error: { code: 'tool_unknown' } }),
        {
          timeout: 20_000,
          interval: 200,
        },
      );
    } finally {
      await Promise.all(processes.map((process) => process.end('SIGTERM')));
    }
  });
});

describe('after ags init, on a machine without the key files', () => {
  const missing = () => ['vault.key', 'pepper.key'].map((name) => join(keyless, 'keys', name)).join(' and ');

  it.each(['agents list', 'keys create --admin', 'audit'])(
    'ags %s says to copy them, and makes nothing',
    async (args) => {
      const run = await onKeyless(...args.split(' '));
      expect(run).toMatchObject({ code: 2, stdout: '', error: { code: 'secrets_unusable' } });
      expect(run.error['message']).toContain(`${missing()} are missing. Restore them from your backup, or copy them`);
    },
  );

  it('ags init makes none, and calls no step done that was not', async () => {
    const run = await onKeyless('init');
    expect(run).toMatchObject({ code: 1, error: { code: 'secrets_unusable' } });
    expect(run.error['message']).toContain(`${missing()} are missing.`);
    expect(run.objects).toEqual([
      { step: 'state_directory', status: expect.any(String) as string },
      { step: 'keys', status: 'failed' },
    ]);
    expect(await readdir(join(keyless, 'keys'))).toEqual([]);
  });
});
