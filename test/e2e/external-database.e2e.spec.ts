import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { startService, type RunningService } from '../support/service.js';

let database: TestDatabase;
let service: RunningService;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ env: { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error' } });
});

afterAll(async () => {
  await service?.stop();
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

it('its own database is no destination of a connector (E-17)', async () => {
  const base_url = `http://127.0.0.1:${new URL(database.connectionString).port}`;
  const tools = [{ name: 'read', method: 'GET', path: '/', args: {} }];
  const config = { base_url, auth: { kind: 'none' }, allowed_methods: ['GET'], allowed_path_prefixes: ['/'], tools };
  const body = { name: 'own', type: 'rest', config };
  const refused = await service.call('POST', '/v1/connectors', { key: service.adminKey, body });
  expect(refused).toMatchObject({ status: 400, error: { code: 'destination_blocked' } });
});
