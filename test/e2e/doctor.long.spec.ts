import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isEmbeddedPostgresRunning } from '#libs/infra/postgres';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgs, runAgsHere, type AgsRun } from '../support/run-ags.js';
import { runDoctor } from '../support/run-doctor.js';
import { ROOT, startService, type RunningService } from '../support/service.js';

const CHECKS = [
  ...[
    'config',
    'state_directory',
    'disk_space',
    'database',
    'database_role',
    'migrations',
    'wal_level',
    'event_store',
    'redis',
  ],
  ...[
    'vault_key',
    'pepper',
    'seal_key',
    'server_health',
    'version_drift',
    'clock_skew',
    'ledger_chain',
    'executions',
    'sealing',
    'witnesses',
    'projections',
    'active_policy',
    'connectors',
    'database_connectors',
    'decoder_slots',
  ],
];

let service: RunningService;
let database: TestDatabase;
let events: pg.Client;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ags-doctor-'));
  database = await createTestDatabase();
  service = await startService({ env: { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error' } });
  events = new pg.Client({ connectionString: database.connectionString });
  await events.connect();
  for (const tool of ['crm.one', 'crm.two', 'crm.three']) await act(tool);
});
afterAll(async () => {
  await service?.stop();
  await events?.end();
  await database?.drop();
  await rm(folder, { recursive: true, force: true });
});

const act = async (tool: string): Promise<void> => {
  const answer = await service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool, args: {} } });
  expect(answer.error['action']).toMatchObject({ state: 'sealed' });
};

const doctor = (args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Promise<AgsRun> =>
  runDoctor(args, { env: { ...service.environment, ...env } });
/** Where what it asks for is counted, or there is only once. */
const doctorOnce = (args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<AgsRun> =>
  runAgsHere(['doctor', ...args, '--json'], { env: { ...service.environment, ...env } });
const beside = (...args: string[]): Promise<AgsRun> => doctor(['--url', service.baseUrl, ...args]);
const found = ({ objects }: AgsRun, check: string) => objects.find((object) => object['check'] === check);
const unwell = ({ objects }: AgsRun): unknown[] =>
  objects.filter(({ status }) => status === 'problem' || status === 'warning').map(({ check }) => check);

describe('ags doctor beside a running service', () => {
  it('runs every check, finds nothing wrong and writes nothing', async () => {
    const before = await contentOf(events);
    const run = await beside();
    expect(run.stderr).toBe('');
    expect(run.objects.map(({ check }) => check)).toEqual([...CHECKS, undefined]);
    for (const check of run.objects.slice(0, -1)) {
      expect(check).toMatchObject({
        object: 'doctor_check',
        status: expect.stringMatching(/^(ok|warning)$/) as string,
      });
    }
    expect(unwell(run).filter((check) => check !== 'disk_space')).toEqual([]);
    expect(run.code).toBe(0);
    expect(run.objects.at(-1)).toMatchObject({ object: 'doctor', problem: 0, skipped: 0 });
    expect(found(run, 'ledger_chain')?.['message']).toMatch(/\(\d+ checked/);
    expect(await contentOf(events)).toEqual(before);
  });

  it('asks the service for the ledger where it is given a key, and shows the key to nobody else', async () => {
    const keyFile = join(folder, 'admin.key');
    await writeFile(keyFile, `${service.adminKey}\n`, { mode: 0o600 });
    for (const run of [
      await beside('--key-file', keyFile),
      await doctor(['--url', service.baseUrl], { AGS_API_KEY: service.adminKey }),
    ]) {
      expect(run.code).toBe(0);
      expect(found(run, 'ledger_chain')).toMatchObject({
        status: 'ok',
        message: expect.stringMatching(
          /^The service was asked, and .* hold \(\d+ checked, at most 1,000\)\.$/,
        ) as string,
      });
      expect(run.stdout + run.stderr).not.toContain(service.adminKey);
    }
  });

  it.each([
    ['is nobody’s', `svc_live_${'0'.repeat(8)}_${'0'.repeat(32)}`],
    ['is no key at all', 'canary-key'],
  ])('ends with 3 when the key %s', async (_title, key) => {
    const run = await doctor(['--url', service.baseUrl], { AGS_API_KEY: key });
    expect(run.code).toBe(3);
    expect(found(run, 'ledger_chain')).toMatchObject({
      status: 'problem',
      message: 'The service refused the API key (invalid_api_key).',
    });
    expect(unwell(run).filter((check) => check !== 'disk_space')).toEqual(['ledger_chain']);
    expect(run.stdout).not.toContain(key);
  });

  it('ends with 3 when the key may not read deeds', async () => {
    const made = await runAgsHere(
      ['keys', 'create', '--agent', service.agent, '--scopes', 'actions:execute', '--json'],
      {
        env: service.environment,
      },
    );
    const run = await doctor(['--url', service.baseUrl], { AGS_API_KEY: String(made.object['secret']) });
    expect([run.code, found(run, 'ledger_chain')?.['status']]).toEqual([3, 'problem']);
  });

  it('finds a deed that was changed, by itself and through the service', async () => {
    await events.query('alter table event_store.events disable trigger user');
    const change = (from: string, to: string) =>
      events.query(
        `update event_store.events set data = replace(data, $1, $2) where stream = $3 and data like '%' || $1 || '%'`,
        [from, to, `ledger-${service.org}`],
      );
    expect((await change('crm.two', 'crm.ten')).rowCount).toBe(1);
    const runs = [await beside(), await doctor(['--url', service.baseUrl], { AGS_API_KEY: service.adminKey })];
    await change('crm.ten', 'crm.two');
    for (const run of runs) {
      expect([run.code, unwell(run).filter((check) => check !== 'disk_space')]).toEqual([1, ['ledger_chain']]);
      expect(found(run, 'ledger_chain')?.['message']).toMatch(/is broken at seq \d+ \(body_hash_mismatch\)/);
    }
    expect((await beside()).code).toBe(0);
  });

  it('finds a lost key file, says what to do, and leaves out what needs it', async () => {
    const path = join(service.stateDir, 'keys', 'vault.key');
    await rename(path, `${path}.away`);
    const run = await beside();
    await rename(`${path}.away`, path);
    expect(run.code).toBe(1);
    expect(found(run, 'vault_key')).toMatchObject({
      status: 'problem',
      message: `${path} is missing.`,
      next: expect.stringContaining('Restore it from your backup') as string,
    });
    expect(found(run, 'seal_key')).toMatchObject({ status: 'skipped', message: 'Not checked, because of: vault key.' });
    expect(found(run, 'pepper')).toMatchObject({ status: 'ok' });
  });

  it('warns of an organization without a policy', async () => {
    const made = await runAgsHere(['org', 'create', 'Canary & Sons', '--json'], { env: service.environment });
    const { policy, admin_key: key } = made.object;
    const emptied = await service.call('POST', `/v1/policies/${String(policy)}/deactivate`, {
      key: String(key),
      body: { mode: 'enforce' },
    });
    expect(emptied.status).toBe(200);
    const run = await beside();
    expect(run.code).toBe(0);
    expect(found(run, 'active_policy')).toMatchObject({ status: 'warning' });
    const next = String(found(run, 'active_policy')?.['next']);
    // The next step is one that can be taken: its calls and its document are there.
    const calls = [...next.matchAll(/(GET|POST|PUT) (\/v1\/[^\s;,.]+)/g)].map(([, method, path]) => [method, path]);
    expect(calls).toEqual([
      ['POST', '/v1/policies'],
      ['POST', '/v1/policies/{id}/versions/1/activate'],
    ]);
    const [document = ''] = /docs\/[a-z-]+\.md/.exec(next) ?? [];
    const shown = await readFile(join(ROOT, document), 'utf8');
    for (const [method, path] of calls)
      expect(shown).toMatch(new RegExp(`^${method} ${path}`.replace(/[{}]/g, '\\$&'), 'm'));
    expect(found(run, 'active_policy')?.['message']).toContain(String(made.object['id']));
  });
});

describe('ags doctor where something else is wrong', () => {
  it('warns of a service that does not answer, and says how to start it', async () => {
    const url = await unusedAddress();
    const run = await doctor(['--url', url]);
    expect(run.code).toBe(0);
    expect(found(run, 'server_health')).toMatchObject({
      status: 'warning',
      message: `The service does not answer: nothing listens at ${url}.`,
      next: expect.stringContaining('`npm start`') as string,
    });
    expect(found(run, 'version_drift')).toMatchObject({ status: 'skipped' });
  });

  it('says that a service is there which listens elsewhere than the settings say', async () => {
    const { port } = new URL(await unusedAddress());
    const run = await doctor([], { SERVICE_PORT: port });
    expect(found(run, 'server_health')).toMatchObject({
      status: 'warning',
      message: `Nothing listens at http://127.0.0.1:${port}, and an api of this deployment is connected to its database.`,
      next: expect.stringContaining('Name with --url where it listens') as string,
    });
  });

  it('says of a port that no HTTP client asks that it was not asked', async () => {
    const url = 'http://127.0.0.1:9';
    expect(found(await doctor(['--url', url]), 'server_health')).toMatchObject({
      status: 'problem',
      message: `${url} was not asked: its port is one that browsers and other HTTP clients refuse.`,
      next: expect.stringContaining('--url') as string,
    });
    const run = await doctor([], { SERVICE_PORT: '6000' });
    expect(found(run, 'server_health')).toMatchObject({ next: expect.stringMatching(/^Set SERVICE_PORT/) as string });
  });

  it('does not know where a port of 0 came to lie', async () => {
    expect(found(await doctor(), 'server_health')).toMatchObject({
      status: 'skipped',
      message: expect.stringContaining('--url') as string,
    });
  });

  it('finds another program where the service should be, and shows it no key', async () => {
    const seen: string[] = [];
    const other = createServer((request, response) => {
      seen.push(String(request.headers.authorization));
      response.end('<html>hello</html>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const run = await doctorOnce(['--url', url], { AGS_API_KEY: service.adminKey });
    await new Promise((resolve) => other.close(resolve));
    expect([run.code, unwell(run).includes('server_health')]).toEqual([1, true]);
    expect(found(run, 'server_health')).toMatchObject({
      next: expect.stringMatching(/^Name with --url where/) as string,
    });
    expect(seen).toEqual(['undefined', 'undefined']);
  });

  it('knows a service of another deployment by its seal keys, and shows it no key', async () => {
    const elsewhere = await createTestDatabase();
    const other = await startService({ env: { DATABASE_URL: elsewhere.connectionString, LOG_LEVEL: 'error' } });
    const run = await doctor(['--url', other.baseUrl], { AGS_API_KEY: service.adminKey });
    await other.stop();
    await elsewhere.drop();
    expect(run.code).toBe(1);
    expect(found(run, 'server_health')).toMatchObject({
      status: 'problem',
      message: expect.stringContaining('is another deployment') as string,
      next: expect.stringMatching(/DATABASE_URL.* or name with --url/) as string,
    });
    expect(found(run, 'version_drift')).toMatchObject({ status: 'skipped' });
    expect(found(run, 'ledger_chain'), 'read from the database').toMatchObject({
      status: 'ok',
      message: expect.stringContaining('every ledger') as string,
    });
  });

  it.each([
    ['answers 404 for its seal keys', 404, '{}'],
    ['answers 503 for its seal keys', 503, '{}'],
    ['lists what are no keys', 200, '{"object":"seal_key_set","keys":[null,7,{"kid":1}]}'],
  ])('shows its key to no service that %s', async (_title, status, keys) => {
    const shown: unknown[] = [];
    const other = createServer(({ url, headers }, response) => {
      shown.push(headers.authorization);
      if (url === '/v1/health') response.end('{"object":"health","status":"ok","checks":{}}');
      else response.writeHead(url === '/v1/version' ? 200 : status).end(keys);
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const run = await doctor(['--url', url], { AGS_API_KEY: service.adminKey });
    await new Promise((resolve) => other.close(resolve));
    expect(shown.filter((authorization) => authorization !== undefined)).toEqual([]);
    expect(run.stderr).toBe('');
    expect(found(run, 'server_health')).toMatchObject(
      status === 200
        ? { status: 'problem', message: expect.stringContaining('is another deployment') as string }
        : {
            status: 'warning',
            message: expect.stringMatching(/not known: .*seal keys\. It was shown no API key/) as string,
          },
    );
  });

  it('does not know whose a service is where its own seal keys cannot be read', async () => {
    const run = await doctor(['--url', service.baseUrl], {
      AGS_API_KEY: service.adminKey,
      DATABASE_URL: 'postgres://ags:canary@127.0.0.1:1/service',
    });
    expect(found(run, 'server_health')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(/not known: the seal keys of this one .*It was shown no API key/) as string,
    });
  });

  it('finds a database that cannot be reached', async () => {
    const run = await doctor([], { DATABASE_URL: 'postgres://ags:canary@127.0.0.1:1/service' });
    expect([run.code, found(run, 'database')?.['status']]).toEqual([1, 'problem']);
    expect(found(run, 'clock_skew')).toMatchObject({
      status: 'skipped',
      message: 'Not checked, because of: database.',
    });
    expect(run.stdout + run.stderr).not.toContain('canary');
  });

  it('says every problem of the settings and checks nothing else', async () => {
    const run = await doctor([], { SERVICE_PORT: '70000', LOG_LEVEL: 'loud' });
    expect([run.code, unwell(run)]).toEqual([1, ['config']]);
    expect(found(run, 'config')?.['message']).toMatch(/SERVICE_PORT[^]*LOG_LEVEL/);
    expect(run.objects).toHaveLength(CHECKS.length + 1);
  });

  it('makes nothing in an empty folder', async () => {
    const stateDir = join(folder, 'nowhere');
    const run = await runAgs(['doctor'], { env: { SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0' } });
    expect(run.code).toBe(1);
    expect(run.stdout).toMatch(/^problem +state directory +.*nowhere is not there\.\n +Set SERVICE_STATE_DIR/m);
    expect(existsSync(stateDir)).toBe(false);
  });

  it('refuses a key file that others can read, and takes what the shell hands over', async () => {
    const keyFile = join(folder, 'shared.key');
    await writeFile(keyFile, 'svc_live_x\n', { mode: 0o644 });
    expect(await doctor(['--key-file', keyFile])).toMatchObject({
      code: 2,
      stdout: '',
      error: { code: 'file_unusable', message: expect.stringContaining(`Run chmod 0600`) },
    });
    const pipe = join(folder, 'key.pipe');
    execFileSync('mkfifo', ['-m', '644', pipe]);
    const [piped] = await Promise.all([
      doctorOnce(['--url', service.baseUrl, '--key-file', pipe]),
      writeFile(pipe, `${service.adminKey}\n`),
    ]);
    expect(found(piped, 'ledger_chain')?.['message']).toContain('The service was asked');
  });

  it.each([
    ['a key file that is not there', ['--key-file', '/nowhere/key'], 'file_unusable'],
    ['an address that is none', ['--url', 'localhost:8080'], 'usage'],
  ])('ends with 2 at %s', async (_title, args, code) => {
    expect(await doctor(args)).toMatchObject({ code: 2, stdout: '', error: { code } });
  });
});

describe('ags doctor beside an embedded database', () => {
  it('that does not run, looks into it and stops it again', async () => {
    const stateDir = await mkdtemp(join(tmpdir(), 'ags-doctor-embedded-'));
    await rm(stateDir, { recursive: true });
    const env = { SERVICE_STATE_DIR: stateDir, SERVICE_PORT: '0' };
    expect((await runAgs(['init'], { env })).code).toBe(0);
    const names = readdirSync(stateDir).sort();
    const run = await runDoctor([], { env });
    expect([run.code, run.stderr]).toEqual([0, '']);
    expect(found(run, 'database')?.['message']).toContain('was not running: it was started to look');
    expect(await isEmbeddedPostgresRunning(stateDir)).toBe(false);
    expect(readdirSync(stateDir).sort()).toEqual(names);
    await rm(stateDir, { recursive: true, force: true });
  });
});

/** The log and every table, without what a service does by itself. */
const contentOf = async (client: pg.Client): Promise<unknown> => {
  const log = await client.query('select max(position) as head, count(*) from event_store.events');
  const tables = await client.query(
    `select schemaname, tablename from pg_tables where schemaname not like 'pg_%' order by 1, 2`,
  );
  const hints = await client.query('select * from vault_key_check, agents.pepper_check, agents.key_prefixes');
  return [log.rows, tables.rows, hints.rows];
};

/** Nothing listens there any more. */
const unusedAddress = async (): Promise<string> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
};
