import { execFileSync } from 'node:child_process';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgsHere } from '../support/run-ags.js';
import { startService, type RunningService } from '../support/service.js';

type Json = Readonly<Record<string, unknown>>;

/** REPLAYED=10000 is a larger organization. */
const ACTIONS = Number(process.env['REPLAYED'] ?? 3_000);
const RULES = 100;
const PATIENT = { timeout: 60_000, interval: 50 };
/** None of them holds, so each is asked: a replay then takes some seconds. */
const SLOW = [
  'version: 1',
  'default: deny',
  'rules:',
  ...Array.from({ length: RULES }, (_, number) =>
    [
      `  - id: rule-${number}`,
      `    when: args.name.startsWith("a${number}") && args.name.endsWith("z")`,
      '    decision: allow',
    ].join('\n'),
  ),
  '',
].join('\n');

let database: TestDatabase;
let rows: pg.Client;
let service: RunningService;
let policy: string;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ env: { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error' } });
  rows = new pg.Client({ connectionString: database.connectionString });
  await rows.connect();
  await act('Ada');
  // The row that is copied below.
  await vi.waitFor(async () => {
    const { rows: listed } = await rows.query('select from read_models.actions');
    expect(listed).toHaveLength(1);
  }, PATIENT);
  // As if the agent had made that call so many times.
  await rows.query(
    `insert into gate.payloads (owner, kind, digest, org, body)
     select 'act_' || lpad(n::text, 26, '0'), kind, digest, org, body
       from gate.payloads, generate_series(1, $1::int) n where kind = 'policy_input'`,
    [ACTIONS],
  );
  await rows.query(
    `insert into read_models.actions
     select (jsonb_populate_record(a, jsonb_build_object('id', 'act_' || lpad(n::text, 26, '0'), 'error_code', 'policy_denied'))).*
       from read_models.actions a, generate_series(1, $1::int) n`,
    [ACTIONS],
  );
  const made = await admin('POST', '/v1/policies', { name: 'Slow', source: SLOW });
  policy = String(made['id']);
});
afterAll(async () => {
  await rows?.end();
  await service?.stop();
  await database?.drop();
});

const act = (name: string) =>
  service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool: 'crm.get', args: { name } } });
const admin = async (method: string, path: string, body?: object): Promise<Json> => {
  const { status, json } = await service.call(method, path, { key: service.adminKey, ...(body && { body }) });
  expect([path, Math.floor(status / 100)]).toEqual([path, 2]);
  return json;
};
const start = (): Promise<Json> => admin('POST', `/v1/policies/${policy}/versions/1/replay`, {});
const read = (id: unknown): Promise<Json> => admin('GET', `/v1/replays/${String(id)}`);
const doneOf = async (id: unknown): Promise<number> => ((await read(id))['progress'] as { done: number }).done;
const until = (id: unknown, status: string): Promise<void> =>
  vi.waitFor(async () => expect(await read(id)).toMatchObject({ status }), PATIENT);

/** Processes that run this replay. */
const processesOf = (id: unknown): readonly number[] =>
  execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes('replay-policy') && line.endsWith(String(id)))
    .map((line) => Number.parseInt(line, 10));

/** Waits until the replay has saved something, and is not done yet. */
const underWay = async (id: unknown): Promise<number> => {
  await vi.waitFor(async () => expect(await doneOf(id)).toBeGreaterThan(0), PATIENT);
  expect((await read(id))['status']).toBe('running');
  const [pid] = processesOf(id);
  if (pid === undefined) throw new Error('nobody runs it');
  return pid;
};

describe('a replay', () => {
  it('loses and doubles nothing when the process that runs it is killed', async () => {
    const whole = await start();
    await until(whole['id'], 'succeeded');
    const cut = await start();
    process.kill(await underWay(cut['id']), 'SIGKILL');
    expect(await doneOf(cut['id'])).toBeLessThan(ACTIONS);
    await until(cut['id'], 'succeeded');
    const [expected, found] = [await read(whole['id']), await read(cut['id'])];
    expect(found['result']).toEqual(expected['result']);
    expect(found['digest']).toBe(expected['digest']);
    expect(found['progress']).toEqual({ done: ACTIONS + 1, total: ACTIONS + 1 });
    expect(found['result']).toMatchObject({ judged: ACTIONS, skipped: { payload_removed: 0, not_asked: 1 } });
  }, 180_000);

  it('goes on in the next process when the whole service is killed, whose end its process does not outlive', async () => {
    const { id } = await start();
    const pid = await underWay(id);
    await service.kill('SIGKILL');
    await vi.waitFor(() => expect(processesOf(id)).not.toContain(pid), PATIENT);
    await service.start();
    await until(id, 'succeeded');
    expect(await read(id)).toMatchObject({ progress: { done: ACTIONS + 1, total: ACTIONS + 1 } });
  }, 180_000);

  it('ends when it is cancelled, and so does its process', async () => {
    const { id } = await start();
    await underWay(id);
    expect(await admin('POST', `/v1/replays/${String(id)}/cancel`)).toMatchObject({ status: 'cancelled' });
    await vi.waitFor(() => expect(processesOf(id)).toEqual([]), PATIENT);
    expect(await read(id)).toMatchObject({ status: 'cancelled', result: null });
  }, 120_000);

  it('is started, watched and told by the command line', async () => {
    const { code, object } = await runAgsHere(['policies', 'replay', policy, '1', '--json'], {
      env: service.environment,
    });
    expect([code, object]).toEqual([0, expect.objectContaining({ object: 'replay', status: 'succeeded' })]);
    const refused = await runAgsHere(['policies', 'replay', policy, '9', '--json'], { env: service.environment });
    expect(refused).toMatchObject({ code: 1, error: { code: 'not_found' } });
    const named = await runAgsHere(['policies', 'replay', 'Slow', '--json'], { env: service.environment });
    expect([named.code, named.object]).toEqual([0, expect.objectContaining({ policy, status: 'succeeded' })]);
    const unknown = await runAgsHere(['policies', 'replay', 'slow', '--json'], { env: service.environment });
    expect(unknown).toMatchObject({ code: 1, error: { code: 'not_found' } });
  }, 180_000);
});
