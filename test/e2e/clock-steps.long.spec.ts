import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgs } from '../support/run-ags.js';
import { removeStateDir, startService, temporaryStateDir, type RunningService } from '../support/service.js';

const MINUTE_MS = 60_000;
const SHIFTED_CLOCK = new URL('../support/shifted-clock.mjs', import.meta.url).href;

let database: TestDatabase;
let stateDir: string;
let folder: string;
let service: RunningService | null = null;
/** Shown by the first start alone. */
let org: string;
let adminKey: string;
let agentKey: string;

const environmentAt = (shiftMs: number) => ({
  DATABASE_URL: database.connectionString,
  LOG_LEVEL: 'warn',
  NODE_OPTIONS: `--import=${SHIFTED_CLOCK}`,
  CLOCK_SHIFT_MS: String(shiftMs),
});

/** The same machine, its clock as far from the right time. */
const startAt = async (shiftMs: number): Promise<RunningService> => {
  service = await startService({ stateDir, env: environmentAt(shiftMs) });
  return service;
};
const stop = async (): Promise<void> => {
  await service?.stop();
  service = null;
};

beforeAll(async () => {
  database = await createTestDatabase();
  stateDir = await temporaryStateDir();
  folder = await mkdtemp(join(tmpdir(), 'ags-clock-'));
  const first = await startAt(0);
  ({ org, adminKey, agentKey } = first);
  await refused(first);
  await stop();
});
afterEach(stop);
afterAll(async () => {
  await stop();
  await removeStateDir(stateDir);
  await rm(folder, { recursive: true, force: true });
  await database?.drop();
});

const refused = async (running: RunningService): Promise<void> => {
  const { error } = await running.call('POST', '/v1/actions', { key: agentKey, body: { tool: 'x.y' } });
  expect(error['action']).toMatchObject({ state: 'sealed' });
};
const ags = (shiftMs: number, ...args: string[]) =>
  runAgs([...args, '--json'], { env: { ...service?.environment, ...environmentAt(shiftMs) } });

/** By the service, by whoever replays its log, and by an auditor who has a bundle, the key set and every pin. */
const expectValid = async (running: RunningService, shiftMs: number): Promise<void> => {
  const check = await running.call('GET', '/v1/ledger/check', { key: adminKey });
  expect(check.json).toMatchObject({ result: 'intact', reason: null, links_intact: true });
  expect(await ags(shiftMs, 'audit')).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0 } });
  const [bundle, keys] = [join(folder, 'bundle.tgz'), join(folder, 'keys.json')];
  const exported = await fetch(`${running.baseUrl}/v1/deeds/export`, {
    headers: { Authorization: `Bearer ${adminKey}` },
  });
  await writeFile(bundle, Buffer.from(await exported.arrayBuffer()));
  await writeFile(keys, (await running.call('GET', '/.well-known/service/keys.json')).text);
  const pins = (await ags(shiftMs, 'seal-keys', 'list')).objects.flatMap(({ fingerprint }) => [
    '--pin',
    String(fingerprint),
  ]);
  const verdict = await ags(shiftMs, 'verify', bundle, '--org', org, '--keys', keys, ...pins);
  expect(verdict).toMatchObject({ code: 0, object: { result: 'intact' } });
};

describe('a clock that was set back ten minutes (INV-06)', { timeout: 180_000 }, () => {
  it('makes no other seal key at the start, and no deed invalid', async () => {
    const behind = await startAt(-10 * MINUTE_MS);
    await refused(behind);
    expect((await ags(-10 * MINUTE_MS, 'seal-keys', 'list')).objects).toHaveLength(1);
    expect(`${behind.stdout}${behind.stderr}`).toContain('the clock is behind the activation of the seal key');
    await expectValid(behind, -10 * MINUTE_MS);
    await stop();
    const right = await startAt(0);
    await refused(right);
    await expectValid(right, 0);
  });

  it('retires no key before what it sealed, when the operator rotates', async () => {
    await refused(await startAt(60 * MINUTE_MS));
    await stop();
    const behind = await startAt(50 * MINUTE_MS);
    expect(await ags(50 * MINUTE_MS, 'seal-keys', 'rotate', '--overlap', '1m')).toMatchObject({ code: 0 });
    await refused(behind);
    expect((await ags(50 * MINUTE_MS, 'seal-keys', 'list')).objects).toHaveLength(2);
    await expectValid(behind, 50 * MINUTE_MS);
  });
});
