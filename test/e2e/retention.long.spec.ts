import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgs } from '../support/run-ags.js';
import { removeStateDir, startService, temporaryStateDir, type RunningService } from '../support/service.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const SHIFTED_CLOCK = new URL('../support/shifted-clock.mjs', import.meta.url).href;
const PATIENT = { timeout: 30_000, interval: 100 };

let database: TestDatabase;
let stateDir: string;
let folder: string;
let rows: pg.Client;
let service: RunningService | null = null;
/** Shown by the first start alone. */
let first: RunningService;

const environmentAt = (days: number) => ({
  DATABASE_URL: database.connectionString,
  LOG_LEVEL: 'warn',
  NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
  CLOCK_SHIFT_MS: String(days * DAY_MS),
});
const startAfter = async (days: number): Promise<RunningService> => {
  await service?.stop();
  service = await startService({ stateDir, env: environmentAt(days) });
  return service;
};
const ags = (days: number, ...args: string[]) =>
  runAgs([...args, '--json'], { env: { ...service?.environment, ...environmentAt(days) } });

/** An action that is refused, as every one is that names no tool. */
const act = async (running: RunningService, name: string): Promise<string> => {
  const body = { tool: 'crm.get', args: { name } };
  const { error } = await running.call('POST', '/v1/actions', { key: first.agentKey, body });
  expect(error['action']).toMatchObject({ state: 'sealed' });
  return String((error['action'] as { id: string }).id);
};
const requestOf = async (running: RunningService, action: string): Promise<unknown> =>
  (await running.call('GET', `/v1/actions/${action}`, { key: first.adminKey })).json['request'];
const bodiesWith = async (text: string): Promise<number | null> =>
  (await rows.query(`select from gate.payloads where body like '%' || $1 || '%'`, [text])).rowCount;

beforeAll(async () => {
  database = await createTestDatabase();
  stateDir = await temporaryStateDir();
  folder = await mkdtemp(join(tmpdir(), 'ags-retention-'));
  rows = new pg.Client({ connectionString: database.connectionString });
  await rows.connect();
});
afterAll(async () => {
  await service?.stop();
  await rows?.end();
  await removeStateDir(stateDir);
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

describe('a service that runs for longer than it keeps bodies', () => {
  it('removes them by itself, and everything that checks it goes on verifying', async () => {
    first = await startAfter(0);
    const old = await act(first, 'Ada');
    const kept = await act(await startAfter(89), 'Grace');
    expect(await requestOf(service as RunningService, old)).toMatchObject({ args: { name: 'Ada' } });
    const running = await startAfter(91);
    await vi.waitFor(async () => expect(await requestOf(running, old)).toEqual({ removed: true }), PATIENT);
    expect(await requestOf(running, kept)).toMatchObject({ args: { name: 'Grace' } });
    expect([await bodiesWith('Ada'), await bodiesWith('Grace')]).toEqual([0, 1]);
  }, 120_000);

  it('as an audit, a bundle and the rows of lists say', async () => {
    const running = service as RunningService;
    expect(await ags(91, 'audit')).toMatchObject({
      code: 0,
      object: { result: 'intact', payloads: 2, payloads_removed: 1 },
    });
    expect(await ags(91, 'projections', 'verify')).toMatchObject({ code: 0 });
    expect(await ags(91, 'projections', 'rebuild')).toMatchObject({ code: 0 });
    const exported = await fetch(`${running.baseUrl}/v1/deeds/export`, {
      headers: { Authorization: `Bearer ${first.adminKey}` },
    });
    const bundle = join(folder, 'bundle.tgz');
    await writeFile(bundle, Buffer.from(await exported.arrayBuffer()));
    const pins = (await ags(91, 'seal-keys', 'list')).objects.flatMap(({ fingerprint }) => [
      '--pin',
      String(fingerprint),
    ]);
    const verdict = await ags(91, 'verify', bundle, '--org', first.org, ...pins);
    expect(verdict).toMatchObject({ code: 0, object: { result: 'intact' } });
    expect((await ags(91, 'doctor')).stdout).not.toContain('gate.retention');
  }, 120_000);

  it('and an audit names a body that somebody else removed', async () => {
    await rows.query(`delete from gate.payloads where body like '%Grace%'`);
    expect(await ags(91, 'audit')).toMatchObject({
      code: 1,
      object: { result: 'broken', payloads_removed: 1, faults: [{ code: 'payload_missing', kind: 'policy_input' }] },
    });
  }, 60_000);
});
