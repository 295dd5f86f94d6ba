import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEmptyDatabase, type TestDatabase } from '../support/database.js';
import { runAgs } from '../support/run-ags.js';
import { type RunningService, removeStateDir, startService, temporaryStateDir } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';
import { MADE, restoreMadeDatabase, restoreMadeKeys } from './made-database.js';

describe('a service on a database that 0.1.0 made', () => {
  let database: TestDatabase;
  let stateDir: string;
  let service: RunningService;

  beforeAll(async () => {
    [database, stateDir] = [await createEmptyDatabase(), await temporaryStateDir()];
    await restoreMadeDatabase(database.connectionString);
    await restoreMadeKeys(stateDir);
    service = await startService({ stateDir, env: { DATABASE_URL: database.connectionString, LOG_LEVEL: 'warn' } });
  });
  afterAll(async () => {
    await service?.stop();
    if (stateDir) await removeStateDir(stateDir);
    await database?.drop();
  });

  const ags = (...args: readonly string[]) => runAgs([...args, '--json'], { env: service.environment });

  it('shows what was recorded, decides and seals the next call, and both audit and rows hold', async () => {
    const listed = () => upToDate(() => service.call('GET', '/v1/actions?limit=100', { key: MADE.admin_key }));
    const before = (await listed()).json['data'] as readonly { id: string }[];
    expect(before.length).toBeGreaterThan(10);
    const denied = await service.call('POST', '/v1/actions', {
      key: MADE.agent_key,
      body: { tool: 'crm.delete_customer', args: { id: '42' }, wait: 25 },
    });
    expect(denied).toMatchObject({ status: 403, error: { code: 'policy_denied' } });
    const after = (await listed()).json['data'] as readonly { id: string }[];
    expect(after.slice(1).map(({ id }) => id)).toEqual(before.map(({ id }) => id));
    const check = await service.call('GET', '/v1/ledger/check', { key: MADE.admin_key });
    expect(check.json).toMatchObject({ result: 'intact' });
    expect(await ags('audit')).toMatchObject({ code: 0 });
    expect(await ags('projections', 'verify')).toMatchObject({ code: 0 });
    expect(await ags('doctor')).toMatchObject({ code: 0 });
  });

  it('starts again at once, with nothing left to upgrade', async () => {
    await service.restart();
    expect((await service.call('GET', '/v1/health')).status).toBe(200);
    expect(service.output).not.toContain('is being brought up to date');
  });
});
