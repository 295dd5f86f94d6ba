import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { runAgsHere, type AgsRun } from '../support/run-ags.js';
import { startService, type RunningService } from '../support/service.js';

let database: TestDatabase;
let service: RunningService;
let events: pg.Client;

beforeAll(async () => {
  database = await createTestDatabase();
  service = await startService({ env: { DATABASE_URL: database.connectionString, LOG_LEVEL: 'error' } });
  events = new pg.Client({ connectionString: database.connectionString });
  await events.connect();
  for (const tool of ['crm.one', 'crm.two', 'crm.three']) {
    const answer = await service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool, args: {} } });
    expect(answer.error['action']).toMatchObject({ state: 'sealed' });
  }
});
afterAll(async () => {
  await service?.stop();
  await events?.end();
  await database?.drop();
});

const ags = (...args: string[]): Promise<AgsRun> =>
  runAgsHere(['audit', ...args, '--json'], { env: service.environment });

/** While the database says something else than was written. */
const whileAltered = async (change: string, task: () => Promise<void>): Promise<void> => {
  await events.query('create table kept as select * from event_store.events');
  await events.query('alter table event_store.events disable trigger user');
  try {
    expect((await events.query(change)).rowCount).toBe(1);
    await task();
  } finally {
    await events.query(
      'truncate event_store.events; insert into event_store.events select * from kept; drop table kept',
    );
  }
};

describe('ags audit, beside a running service', () => {
  it('finds every deed as the log gives it', async () => {
    const run = await ags();
    expect(run).toMatchObject({
      code: 0,
      stderr: '',
      object: { object: 'audit', result: 'intact', org: null, unsealed: 0, unsealed_since: null, faults: [] },
    });
    const { count } = (await events.query<{ count: string }>('select count(*) from event_store.events')).rows[0] ?? {};
    expect(run.object['events']).toBe(Number(count));
    expect(run.object['deeds']).toBeGreaterThan(3);
    expect(await ags('--org', service.org)).toMatchObject({ code: 0, object: { org: service.org, fault_count: 0 } });
  });

  it('finds an event that was rewritten where it lies', async () => {
    const change = `update event_store.events set data = replace(data::text, 'crm.two', 'crm.ten')
      where type = 'ActionSubmitted' and data::text like '%crm.two%'`;
    await whileAltered(change, async () => {
      const { code, object } = await ags();
      expect([code, object['result'], object['fault_count']]).toEqual([1, 'broken', 2]);
      expect(object['faults']).toEqual([
        expect.objectContaining({ code: 'event_altered', org: service.org, revision: 0, kind: null, digest: null }),
        expect.objectContaining({ code: 'deed_differs', stream: `ledger-${service.org}` }),
      ]);
      const text = await runAgsHere(['audit'], { env: service.environment });
      expect(text.stdout).toMatch(/^Broken: 2 faults\./);
      expect(text.stdout).toContain('the deed is not what the log gives');
      const [, { revision, seq }] = object['faults'] as readonly [object, { revision: number; seq: number }];
      expect(text.stdout).toContain(`ledger-${service.org} at revision ${revision} (seq ${seq}) `);
      expect(seq).toBe(revision + 1);
    });
    expect(await ags()).toMatchObject({ code: 0 });
  });

  it('finds that an event is gone which asked for no deed and was the last of its stream', async () => {
    await whileAltered(`delete from event_store.events where type = 'PersonCreated'`, async () => {
      const { code, object } = await ags();
      expect([code, object['faults']]).toEqual([1, [expect.objectContaining({ code: 'event_missing' })]]);
    });
  });

  it('finds arguments that were changed beside the log, and whose are gone', async () => {
    const { rows } = await events.query<{ owner: string; digest: string }>(
      `select owner, digest from gate.payloads where kind = 'policy_input' order by number`,
    );
    expect(rows).toHaveLength(3);
    const [changed, removed] = rows.map(({ owner }) => owner);
    const [changedDigest, removedDigest] = rows.map(({ digest }) => digest);
    const of = (owner: string | undefined, digest: string | undefined): object => ({
      org: service.org,
      stream: `action-${owner}`,
      revision: 0,
      seq: null,
      kind: 'policy_input',
      digest,
    });
    await events.query('create table kept as select * from gate.payloads');
    await events.query(`update gate.payloads set body = replace(body, 'crm.one', 'crm.ten') where owner = $1`, [
      changed,
    ]);
    await events.query('delete from gate.payloads where owner = $1', [removed]);
    const { code, object } = await ags();
    const text = await runAgsHere(['audit'], { env: service.environment });
    await events.query(`truncate gate.payloads; insert into gate.payloads overriding system value select * from kept;
      drop table kept`);
    expect([code, object['result'], object['payloads'], object['faults']]).toEqual([
      1,
      'broken',
      3,
      [
        { code: 'payload_differs', ...of(changed, changedDigest) },
        { code: 'payload_missing', ...of(removed, removedDigest) },
      ],
    ]);
    expect(text.stdout).toMatch(/^Broken: 2 faults\./);
    expect(text.stdout).toContain(`action-${removed} at revision 0`);
    expect(text.stdout).toContain(
      `are not stored: restore their row of gate.payloads (kind policy_input, digest ${removedDigest})`,
    );
    expect(await ags()).toMatchObject({ code: 0, object: { payloads: 3 } });
  });

  it('knows no other organization', async () => {
    const unknown = 'org_0000000000000000000000000a';
    expect(await ags('--org', unknown)).toMatchObject({ code: 1, error: { code: 'not_found' } });
  });
});
