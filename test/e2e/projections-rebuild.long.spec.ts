import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PostgresLeases } from '#libs/infra/leases';
import { PROJECTION_NAMES } from '#libs/infra/read-models';
import { runProgram } from '../../apps/cli/src/program.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgs, type AgsRun } from '../support/run-ags.js';
import { objectsIn } from '../support/run-program.js';
import { ROOT, startService, type RunningService } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';
import { writtenTerminal } from '../support/written-terminal.js';

let database: TestDatabase;
let service: RunningService;
let rows: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ env: { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error' } });
  rows = new pg.Client({ connectionString: database.connectionString });
  await rows.connect();
});
afterAll(async () => {
  await service?.stop();
  await rows?.end();
  await database?.drop();
});

const ags = (...args: string[]): Promise<AgsRun> => runAgs([...args, '--json'], { env: service.environment });
const act = async (tool: string): Promise<void> => {
  const answer = await service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool, args: {} } });
  expect(answer.status).toBe(404);
};
/** The tools of all actions, oldest first, over as many pages as there are. */
const listed = async (): Promise<readonly string[]> => {
  const tools: string[] = [];
  for (let cursor: string | null = ''; cursor !== null;) {
    const path = `/v1/actions?limit=100${cursor && `&cursor=${cursor}`}`;
    const { status, headers, json } = await upToDate(() => service.call('GET', path, { key: service.adminKey }));
    expect([status, headers.get('service-projection-lag')]).toEqual([200, null]);
    tools.push(...(json['data'] as { tool: string }[]).map(({ tool }) => tool));
    cursor = json['next_cursor'] as string | null;
  }
  return tools.reverse();
};

const newest = async (): Promise<unknown> => {
  const { json } = await upToDate(() => service.call('GET', '/v1/actions?limit=1', { key: service.adminKey }));
  return (json['data'] as { tool: string }[])[0]?.tool;
};

describe('ags projections rebuild', () => {
  it('beside a running service, heals its rows and loses nothing that happens meanwhile', async () => {
    const tools = ['crm.one', 'crm.two', 'crm.three'];
    for (const tool of tools) await act(tool);
    expect(await listed()).toEqual(tools);
    await rows.query(`update read_models.actions set folded = replace(folded, 'crm.two', 'crm.forged')`);
    await rows.query(`delete from read_models.actions where tool = 'crm.three'`);
    expect(await listed()).toEqual(['crm.one', 'crm.forged']);
    let isRebuilding = true;
    const acting = (async () => {
      for (let number = 1; isRebuilding; number += 1) {
        tools.push(`crm.during_${number}`);
        await act(`crm.during_${number}`);
        expect(await newest()).toBe(`crm.during_${number}`);
      }
    })();
    const run = await ags('projections', 'rebuild');
    isRebuilding = false;
    await acting;
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.objects.map(({ object, projection }) => [object, projection])).toEqual(
      PROJECTION_NAMES.map((name) => ['projection_rebuild', name]),
    );
    expect(tools.length).toBeGreaterThan(3);
    expect(await listed()).toEqual(tools);
  });

  it('shows a bar to whoever watches, which is gone in the end and never on standard output', async () => {
    vi.stubEnv('SERVICE_STATE_DIR', service.stateDir);
    vi.stubEnv('DATABASE_URL', database.connectionString);
    const { terminal, out, err } = writtenTerminal({ isTTY: true });
    const code = await runProgram(['projections', 'rebuild', 'actions', '--json'], terminal);
    vi.unstubAllEnvs();
    const [beginning, ...shown] = err().split('\r\u001b[K');
    expect([code, beginning, shown.pop()]).toEqual([0, '', '']);
    expect(shown.length).toBeGreaterThan(0);
    for (const line of shown) expect(line).toMatch(/^actions {4}\[#*\.*\] \d+ %, [\d,]+ events$/);
    expect(out()).toMatch(/^\{"object":"projection_rebuild","projection":"actions",.*\}\n$/);
  });

  it('of one projection, while no service runs', async () => {
    const before = await listed();
    await service.kill('SIGTERM');
    expect(before.length).toBeGreaterThan(3);
    await rows.query(`delete from read_models.actions`);
    const run = await ags('projections', 'rebuild', 'actions');
    expect(run).toMatchObject({ code: 0, objects: [{ projection: 'actions', events: expect.any(Number) as number }] });
    await service.restart();
    expect(await listed()).toEqual(before);
  });

  it('with the key files that the settings name', async () => {
    const { stateDir, environment } = service;
    await rename(join(stateDir, 'keys'), join(stateDir, 'elsewhere'));
    const files = {
      SERVICE_VAULT_KEY_FILE: join(stateDir, 'elsewhere', 'vault.key'),
      SERVICE_PEPPER_FILE: join(stateDir, 'elsewhere', 'pepper.key'),
    };
    const run = await runAgs(['projections', 'rebuild', 'policies', '--json'], { env: { ...environment, ...files } });
    await rename(join(stateDir, 'elsewhere'), join(stateDir, 'keys'));
    expect(run).toMatchObject({ code: 0, stderr: '', objects: [{ projection: 'policies' }] });
  });

  it('is refused while another one is under way', async () => {
    const lease = await new PostgresLeases(database.connectionString).tryTake('rebuild');
    expect(await ags('projections', 'rebuild')).toMatchObject({
      code: 1,
      stdout: '',
      error: { code: 'conflict', message: 'Another rebuild or verification is under way. Wait for it to end.' },
    });
    await lease?.release();
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing behind at %s', async (signal) => {
    const before = await listed();
    // Whoever reads the live rows holds up the exchange, for which the new ones are complete.
    await rows.query('begin');
    await rows.query('select from read_models.actions limit 1');
    const args = [join(ROOT, 'scripts', 'run.mjs'), 'cli', 'projections', 'rebuild', '--json'];
    const child = spawn(process.execPath, args, { cwd: ROOT, env: service.environment, stdio: 'pipe' });
    const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
    const exchanging = `select from pg_locks where not granted and relation = 'read_models.actions'::regclass`;
    await vi.waitFor(async () => expect((await rows.query(exchanging)).rowCount).toBe(1), {
      timeout: 20_000,
      interval: 10,
    });
    child.kill(signal);
    const [end, stdout, stderr] = await ended;
    await rows.query('commit');
    expect([end, stdout]).toEqual([[1, null], '']);
    const message = 'It was interrupted; the rows of actions are as they were. Run it again.';
    expect(objectsIn(stderr)).toEqual([{ object: 'error', code: 'interrupted', message }]);
    const left = await rows.query(`select from pg_namespace where starts_with(nspname, 'read_models_rebuild')`);
    expect(left.rowCount).toBe(0);
    expect(await listed()).toEqual(before);
  });

  it('says which event it cannot read, and leaves the rows as they are', async () => {
    const before = await listed();
    await rows.query(`alter table event_store.events disable trigger user`);
    await rows.query(`update event_store.events set type = 'OrganizationRetold' where type = 'ActionSubmitted'`);
    const run = await ags('projections', 'rebuild');
    expect(run).toMatchObject({ code: 1, stdout: '', error: { code: 'rebuild_failed' } });
    expect(run.error['message']).toMatch(
      /^The rows of actions are as they were\. action-.* holds at revision 0 an event that cannot be read: unknown_type\. Run `npm run ags -- audit`, /,
    );
    expect(await listed()).toEqual(before);
  });

  it('knows the names of the projections', async () => {
    expect(await ags('projections', 'rebuild', 'orders')).toMatchObject({ code: 2, error: { code: 'usage' } });
  });
});
