import { existsSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgs } from '../support/run-ags.js';
import { startService, type RunningService } from '../support/service.js';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.js';

let database: TestDatabase;
let proxy: TcpProxy;
let service: RunningService;

beforeAll(async () => {
  database = await createTestDatabase();
  proxy = await startTcpProxy(database.connectionString);
  const DATABASE_URL = proxy.through(database.connectionString);
  service = await startService({ env: { DATABASE_URL, LOG_LEVEL: 'error' } });
});

afterAll(async () => {
  await service?.stop();
  await proxy?.close();
  await database?.drop();
});

it('DATABASE_URL: the service keeps everything there, and finds it again', async () => {
  const body = { tool: 'crm.get_customer', args: { id: '42' } };
  const refused = await service.call('POST', '/v1/actions', { key: service.agentKey, body });
  expect(refused).toMatchObject({ status: 404, error: { code: 'tool_unknown' } });
  const { id } = refused.error['action'] as { id: string };
  expect(existsSync(join(service.stateDir, 'postgres'))).toBe(false);
  await service.restart();
  const read = await service.call('GET', `/v1/actions/${id}`, { key: service.agentKey });
  expect(read).toMatchObject({ status: 200, json: { state: 'sealed' } });
});

it('its own database is no destination of a connector (rule EGRESS-6)', async () => {
  const base_url = `http://127.0.0.1:${new URL(proxy.through(database.connectionString)).port}`;
  const tools = [{ name: 'read', method: 'GET', path: '/', args: {} }];
  const config = { base_url, auth: { kind: 'none' }, allowed_methods: ['GET'], allowed_path_prefixes: ['/'], tools };
  const body = { name: 'own', type: 'rest', config };
  const refused = await service.call('POST', '/v1/connectors', { key: service.adminKey, body });
  expect(refused).toMatchObject({ status: 400, error: { code: 'destination_blocked' } });
});

it('that hangs and comes back needs nobody: what was refused meanwhile says so, and works again (F-10)', async () => {
  const list = () => service.call('GET', '/v1/actions', { key: service.adminKey });
  const health = () => service.call('GET', '/v1/health');
  proxy.hang();
  const meanwhile = await Promise.all([list(), list(), list(), health()]);
  expect(meanwhile.map(({ status }) => status)).toEqual([503, 503, 503, 503]);
  for (const { error } of meanwhile.slice(0, 3)) expect(error).toMatchObject({ code: 'service_unavailable' });
  const told = await runAgs(['agents', 'list', '--json'], { env: service.environment });
  expect(told).toMatchObject({ code: 2, error: { code: 'database_unavailable' } });
  proxy.resume();
  const recovered = { timeout: 40_000, interval: 100 };
  await vi.waitFor(
    async () =>
      expect([(await list()).status, (await health()).json]).toEqual([200, expect.objectContaining({ status: 'ok' })]),
    recovered,
  );
});

it('a row that was changed behind the service’s back: who needs it is told so, and what to do', async () => {
  const refused = (agent: { key: string }) =>
    service.call('POST', '/v1/actions', { ...agent, body: { tool: 'crm.get_customer', args: { id: '42' } } });
  const { id } = (await refused({ key: service.agentKey })).error['action'] as { id: string };
  const rows = new pg.Client({ connectionString: database.connectionString });
  await rows.connect();
  const change = async (stream: string, from: string, to: string): Promise<void> => {
    const changed = await rows.query(
      'update event_store.events set data = $3 || substr(data, length($2) + 1) where stream = $1 and revision = 0 and starts_with(data, $2)',
      [stream, from, to],
    );
    expect(changed.rowCount).toBe(1);
  };
  const [action, agent] = [`action-${id}`, `agent-${await agentIdOf(rows)}`];
  try {
    await change(action, '{', '[{');
    await service.restart();
    const read = await service.call('GET', `/v1/actions/${id}`, { key: service.agentKey });
    expect(read).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    expect(await refused({ key: service.agentKey })).toMatchObject({ status: 404, error: { code: 'tool_unknown' } });
    expect(service.stdout).toContain(`${action} holds at revision 0 an event (ActionSubmitted) that cannot be read`);
    await change(agent, '{', '[{');
    await expect(service.restart()).rejects.toThrow(`${agent} holds at revision 0 an event`);
    const told = await runAgs(['agents', 'list', '--json'], { env: service.environment });
    expect(told).toMatchObject({ code: 2, error: { code: 'event_store_unusable' } });
    expect(told.error['message']).toContain(
      'Restore the log as it was; `npm run ags -- audit` says what else is wrong',
    );
    await change(agent, '[{', '{');
    await change(action, '[{', '{');
    await service.start();
    const again = await service.call('GET', `/v1/actions/${id}`, { key: service.agentKey });
    expect(again).toMatchObject({ status: 200, json: { state: 'sealed' } });
  } finally {
    await rows.end();
  }
});

const agentIdOf = async (rows: pg.Client): Promise<string> => {
  const found = await rows.query<{ stream: string }>(
    `select stream from event_store.events where stream like 'agent-%'`,
  );
  return (found.rows[0]?.stream ?? '').slice('agent-'.length);
};
