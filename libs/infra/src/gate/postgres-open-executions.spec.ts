import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { EVENT_SCHEMA_VERSION, START, type DomainEvent, type NewEvent, type Subscription } from '#libs/domain/kernel';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { finished, GivenLog, started, testId } from '../../../../test/support/given-log.js';
import { MemoryEventStore } from '../event-store/index.js';
import { PostgresLeases } from '../leases/index.js';
import { PostgresOpenExecutions } from './postgres-open-executions.js';

let database: TestDatabase;
let pool: pg.Pool;
let store: MemoryEventStore;
let log: GivenLog;
let open: PostgresOpenExecutions;
let following: Subscription;
let errors: unknown[];

beforeAll(async () => {
  database = await createWholeDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  store = new MemoryEventStore();
  log = new GivenLog(store);
  errors = [];
  open = new PostgresOpenExecutions(pool, store);
  following = await open.follow(pool, (error) => errors.push(error));
});
afterEach(() => following.close());

const action = (number: number): string => `action-${testId('act', number)}`;
const listed = async (): Promise<readonly string[]> => {
  expect(await open.reach(await store.head(), 5_000)).toBe(true);
  return (await open.list(START, 10)).map((each) => each.action);
};
const unreadable: NewEvent = {
  id: '00000000-0000-8000-8000-000000000001',
  type: 'ExecutionFinished',
  data: '{',
  metadata: '{"org":"org_other"}',
};

describe('the executions that are open', () => {
  it('are those that began and did not end', async () => {
    await log.append(action(1), ...started(1));
    await log.append(action(2), ...started(2));
    await log.append(action(1), finished(1));
    expect(await listed()).toEqual([testId('act', 2)]);
  });

  it('include those that a person approved, also if request and approval fall into one batch', async () => {
    for (const number of [1, 2]) await log.append(action(number), started(number)[0]!);
    expect(await listed()).toHaveLength(2);
    for (const number of [1, 2]) {
      const [, decided, ready] = started(number);
      const asked = { type: 'ApprovalRequested', data: { action: testId('act', number) } } as DomainEvent;
      const again = { ...ready!, data: { ...ready!.data, org: testId('org', 1), connector: null } } as DomainEvent;
      const ended = number === 2 ? [finished(number)] : [];
      await log.append(action(number), decided!, asked, again, ...ended);
    }
    expect(await listed()).toEqual([testId('act', 1)]);
  });

  it('are found anew if the checkpoint is beyond the end of the log, because events were lost', async () => {
    await log.append(action(1), ...started(1));
    expect(await listed()).toHaveLength(1);
    await following.close();
    await pool.query(`update gate.checkpoint set position = 1000`);
    await pool.query(`update gate.open_executions set action = $1`, [testId('act', 9)]);
    following = await open.follow(pool, (error) => errors.push(error));
    expect(await listed()).toEqual([testId('act', 1)]);
  });

  it('are listed whatever events other streams have', async () => {
    await log.append(action(1), ...started(1));
    await store.append({
      stream: 'agent-agt_damaged',
      expectedRevision: 'no_stream',
      events: [{ ...unreadable, type: 'AgentRegistered' }],
    });
    await log.append(action(2), ...started(2));
    expect(await listed()).toEqual([testId('act', 1), testId('act', 2)]);
    expect(errors).toEqual([]);
  });

  it('are listed although one of them cannot be read, which stays open', async () => {
    await log.append(action(1), ...started(1));
    const revision = (await store.heads([action(1)])).get(action(1)) ?? 0;
    await store.append({ stream: action(1), expectedRevision: revision, events: [unreadable] });
    await log.append(action(2), ...started(2));
    expect(await listed()).toEqual([testId('act', 1), testId('act', 2)]);
    expect(errors).toEqual([]);
  });

  it.each([
    ['a type', 'ActionProposed', 1],
    ['a schema', 'ActionSubmitted', EVENT_SCHEMA_VERSION + 1],
  ])('are among them where a newer version began them with %s of its own', async (_, type, schema) => {
    const metadata = JSON.stringify({ org: 'org_other', schema });
    const begun = { id: '00000000-0000-8000-8000-000000000002', type, data: '{}', metadata };
    await store.append({ stream: action(1), expectedRevision: 'no_stream', events: [begun] });
    expect(await listed()).toEqual([testId('act', 1)]);
    const { type: ended, data } = finished(1);
    const end = { id: unreadable.id, type: ended, data: JSON.stringify(data), metadata: unreadable.metadata };
    await store.append({ stream: action(1), expectedRevision: 0, events: [end] });
    expect(await listed()).toEqual([]);
  });

  it('are not opened again by a statement of a former holder, which ends with its lease (F-02)', async () => {
    await following.close();
    const leases = new PostgresLeases(database.connectionString);
    const former = await leases.tryTake('former');
    const late = await open.follow(former!.session, () => undefined);
    const { rows } = await former!.session.query<{ pid: number }>('select pg_backend_pid() as pid');
    const blocker = await pool.connect();
    await blocker.query('begin; lock table gate.open_executions in exclusive mode');
    await log.append(action(1), ...started(1));
    // Waits until the server has the former holder's statement, which is blocked by the lock.
    const isHeldUp = `select 1 from pg_locks where pid = $1 and not granted`;
    await vi.waitUntil(async () => (await blocker.query(isHeldUp, [rows[0]?.pid])).rowCount === 1, 20_000);
    await blocker.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await blocker.query('commit');
    blocker.release();
    following = await open.follow(pool, (error) => errors.push(error));
    await log.append(action(1), finished(1));
    expect(await listed()).toEqual([]);
    await late.close();
    await former?.release();
    expect(await listed()).toEqual([]);
  });
});
