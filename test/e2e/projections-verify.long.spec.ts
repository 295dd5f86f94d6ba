import { spawn } from 'node:child_process';
import { once } from 'node:events';
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
  for (const tool of ['crm.one', 'crm.two', 'crm.three']) await act(tool);
  await listed();
  // Within a minute the worker would: so that its rows are there, too, whenever they are compared.
  expect((await service.call('POST', '/v1/ledger/checkpoint', { key: service.adminKey })).status).toBe(200);
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
/** Deeds as lists show them, the first hundred, once the rows tell of all there are. */
const listed = async (): Promise<readonly Readonly<Record<string, unknown>>[]> => {
  const { status, headers, json } = await upToDate(() =>
    service.call('GET', '/v1/deeds?limit=100', { key: service.adminKey }),
  );
  expect([status, headers.get('service-projection-lag')]).toEqual([200, null]);
  return json['data'] as Readonly<Record<string, unknown>>[];
};
const leftBehind = async () =>
  (await rows.query(`select from pg_namespace where starts_with(nspname, 'read_models_rebuild')`)).rowCount;

describe('ags projections verify', () => {
  it('beside a running service, finds every row as the log gives it, whatever happens meanwhile', async () => {
    let isVerifying = true;
    const acting = (async () => {
      for (let number = 1; isVerifying; number += 1) {
        await act(`crm.during_${number}`);
        await listed();
      }
    })();
    const run = await ags('projections', 'verify');
    isVerifying = false;
    await acting;
    expect(run).toMatchObject({ code: 0, stderr: '' });
    expect(run.objects.map(({ object, projection, result }) => [object, projection, result])).toEqual(
      PROJECTION_NAMES.map((name) => ['projection_verification', name, 'intact']),
    );
    // No connector was made.
    const empty = ['connectors'];
    const compared = PROJECTION_NAMES.map((name) => !empty.includes(name));
    expect(run.objects.map(({ rows: count }) => Number(count) > 0)).toEqual(compared);
    expect(await leftBehind()).toBe(0);
  });

  it('finds a deed that lists show as it was forged, which no audit sees, and a rebuild mends it', async () => {
    const [first] = await listed();
    const id = String(first?.['id']);
    await rows.query(`update read_models.deeds set body_hash = 'sha256:forged', kind = 'action' where id = $1`, [id]);
    expect((await listed())[0]).toMatchObject({ id, body_hash: 'sha256:forged', kind: 'action' });
    expect(first).toMatchObject({ kind: 'admin' });
    expect(await ags('audit')).toMatchObject({ code: 0, object: { result: 'intact' } });
    const { code, stderr, objects } = await ags('projections', 'verify');
    expect([code, stderr]).toEqual([1, '']);
    const judged = PROJECTION_NAMES.map((name) => (name === 'deeds' ? 'broken' : 'intact'));
    expect(objects.map(({ result }) => result)).toEqual(judged);
    expect(objects[1]).toMatchObject({
      difference_count: 1,
      differences: [{ table: 'deeds', key: [id], kind: 'changed', columns: ['kind', 'body_hash'] }],
    });
    const told = await runAgs(['projections', 'verify', 'deeds'], { env: service.environment });
    expect(told.code).toBe(1);
    expect(told.stdout).toMatch(/^Broken: 1 row is not what the log gives\./);
    expect(told.stdout).toMatch(new RegExp(`^deeds  ${id}  changed: kind, body_hash$`, 'm'));
    expect(told.stdout).toContain('npm run ags -- projections rebuild deeds');
    expect(await ags('projections', 'rebuild', 'deeds')).toMatchObject({ code: 0 });
    expect((await listed())[0]).toEqual(first);
    expect(await ags('projections', 'verify')).toMatchObject({ code: 0 });
  });

  it('finds an action that is gone from lists, and one that never was', async () => {
    await rows.query(`delete from read_models.actions where tool = 'crm.one'`);
    await rows.query(`insert into read_models.actions
      select 'act_invented', org, agent, tool, state, decision, verdict, level, error_code, on_behalf_of, created_at, deed,
        sealed_at, folded from read_models.actions where tool = 'crm.two'`);
    const { code, objects } = await ags('projections', 'verify', 'actions');
    await ags('projections', 'rebuild', 'actions');
    expect([code, objects]).toEqual([1, [expect.objectContaining({ difference_count: 2 })]]);
    const differences = objects[0]?.['differences'] as readonly { kind: string }[];
    expect(differences.map(({ kind }) => kind).sort()).toEqual(['missing', 'unexpected']);
    const invented = { table: 'actions', key: ['act_invented'], kind: 'unexpected', columns: [] };
    expect(differences).toContainEqual(invented);
  });

  it('shows a bar to whoever watches, which is gone in the end and never on standard output', async () => {
    vi.stubEnv('SERVICE_STATE_DIR', service.stateDir);
    vi.stubEnv('DATABASE_URL', database.connectionString);
    const { terminal, out, err } = writtenTerminal({ isTTY: true });
    const code = await runProgram(['projections', 'verify', 'actions', '--json'], terminal);
    vi.unstubAllEnvs();
    const [beginning, ...shown] = err().split('\r\u001b[K');
    expect([code, beginning, shown.pop()]).toEqual([0, '', '']);
    expect(shown.at(-1)).toMatch(/^actions {4}\[#{24}\] 100 %, \d+ rows$/);
    for (const line of shown) expect(line).toMatch(/^actions {4}\[#*\.*\] \d+ %, [\d,]+ (events|rows)$/);
    expect(out()).toMatch(/^\{"object":"projection_verification","projection":"actions",.*\}\n$/);
  });

  it('is refused while a rebuild is under way, which makes tables of the same kind', async () => {
    const lease = await new PostgresLeases(database.connectionString).tryTake('rebuild');
    const run = await ags('projections', 'verify');
    await lease?.release();
    expect(run).toMatchObject({ code: 1, stdout: '', error: { code: 'conflict' } });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('leaves nothing behind at %s', async (signal) => {
    const before = await listed();
    // What another one left behind goes first, and somebody looks at it.
    await rows.query('create schema read_models_rebuild_left; create table read_models_rebuild_left.deeds ()');
    await rows.query('begin');
    await rows.query('select from read_models_rebuild_left.deeds');
    const args = [join(ROOT, 'scripts', 'run.mjs'), 'cli', 'projections', 'verify', 'deeds', '--json'];
    const child = spawn(process.execPath, args, { cwd: ROOT, env: service.environment, stdio: 'pipe' });
    const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
    const waiting = `select from pg_locks where not granted and relation = 'read_models_rebuild_left.deeds'::regclass`;
    await vi.waitFor(async () => expect((await rows.query(waiting)).rowCount).toBe(1), {
      timeout: 20_000,
      interval: 10,
    });
    child.kill(signal);
    await rows.query('commit');
    const [end, stdout, stderr] = await ended;
    expect([end, stdout]).toEqual([[1, null], '']);
    const message = 'It was interrupted before it had compared deeds. Run it again.';
    expect(objectsIn(stderr)).toEqual([{ object: 'error', code: 'interrupted', message }]);
    expect(await leftBehind()).toBe(0);
    expect(await listed()).toEqual(before);
  });

  it('says where the log has a hole, over which a rebuild makes no rows', async () => {
    await listed();
    const before = await rows.query('select * from read_models.actions order by id');
    const [hole] = (
      await rows.query<{ position: string }>(
        `select position from event_store.events where type = 'ActionSubmitted' order by position limit 1`,
      )
    ).rows;
    const missing = Number(hole?.position);
    await rows.query('create table kept as select * from event_store.events');
    await rows.query('alter table event_store.events disable trigger user');
    await rows.query('delete from event_store.events where position = $1', [missing]);
    const verified = await ags('projections', 'verify');
    const rebuilt = await ags('projections', 'rebuild', 'actions');
    await rows.query('insert into event_store.events select * from kept where position = $1', [missing]);
    await rows.query('drop table kept; alter table event_store.events enable trigger user');
    const saying = (consequence: string): object => ({
      object: 'error',
      code: 'log_incomplete',
      message:
        `The log has no event at position ${missing}, though it goes on. The rows of actions ${consequence}. ` +
        'Run `npm run ags -- audit`.',
    });
    expect(verified).toMatchObject({ code: 1, stdout: '', error: saying('could not be compared') });
    expect(rebuilt).toMatchObject({ code: 1, stdout: '', error: saying('are as they were') });
    expect((await rows.query('select * from read_models.actions order by id')).rows).toEqual(before.rows);
    expect(await leftBehind()).toBe(0);
    expect(await ags('projections', 'verify')).toMatchObject({ code: 0 });
  });

  it('says which events it cannot read, and compares what others tell', async () => {
    await rows.query(`alter table event_store.events disable trigger user`);
    for (const type of ['ActionSubmitted', 'PolicyVersionAdded']) {
      await rows.query(`update event_store.events set type = 'Retold' where type = $1`, [type]);
    }
    const run = await ags('projections', 'verify');
    const stopped = ['actions', 'policies', 'public_events'];
    const readable = PROJECTION_NAMES.filter((name) => !stopped.includes(name));
    const intact = readable.map((name) => [name, 'intact']);
    expect(run.objects.map(({ projection, result }) => [projection, result])).toEqual(intact);
    expect(run).toMatchObject({ code: 1, error: { code: 'verification_failed' } });
    const told = String(run.error['message']).split('\n');
    expect(told).toHaveLength(3);
    for (const [index, [projection, stream]] of [
      ['actions', 'action-act_'],
      ['policies', 'policy-pol_'],
      ['public_events', 'action-act_'],
    ].entries()) {
      expect(told[index]).toContain(`The rows of ${projection} could not be compared. ${stream}`);
      expect(told[index]).toMatch(/ cannot be read: unknown_type\. Run `npm run ags -- audit`, /);
    }
    expect(await leftBehind()).toBe(0);
  });

  it('knows the names of the projections', async () => {
    expect(await ags('projections', 'verify', 'orders')).toMatchObject({ code: 2, error: { code: 'usage' } });
  });
});
