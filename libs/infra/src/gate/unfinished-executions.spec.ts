import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { UnfinishedExecutions } from '#libs/domain/gate';
import { START, type NewEvent, type RecordedEvent, type Subscription } from '#libs/domain/kernel';
import { createWholeDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { finished, GivenLog, started, testId } from '../../../../test/support/given-log.js';
import { newEvent } from '../../../../test/support/new-event.js';
import { MemoryEventStore } from '../event-store/index.js';
import { PostgresOpenExecutions } from './postgres-open-executions.js';

let database: TestDatabase;
let pool: pg.Pool;
let store: MemoryEventStore;
let log: GivenLog;
let open: PostgresOpenExecutions;
let unfinished: UnfinishedExecutions;
let following: Subscription | null;

beforeAll(async () => {
  database = await createWholeDatabase();
  pool = new pg.Pool({ connectionString: database.connectionString, max: 2 });
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  await pool.query('truncate gate.open_executions, gate.checkpoint');
  store = new MemoryEventStore();
  // Writes the store's own first event, which belongs to no action.
  await store.storeId();
  log = new GivenLog(store);
  open = new PostgresOpenExecutions(pool, store);
  unfinished = new UnfinishedExecutions(store, open);
  following = null;
});
afterEach(() => following?.close());

const action = (number: number): string => `action-${testId('act', number)}`;
/** Allowed and ready, but not claimed. */
const allow = (...numbers: readonly number[]): Promise<void[]> =>
  Promise.all(numbers.map((number) => log.append(action(number), ...started(number).slice(0, 3))));
const end = (number: number): Promise<void> => log.append(action(number), finished(number));

/** Folds the log into the table as a worker does. Without it the table stays as it is. */
const fold = async (): Promise<void> => {
  following = await open.follow(pool, (error) => expect.fail(String(error)));
  expect(await open.reach(await store.head(), 5_000)).toBe(true);
  await following.close();
};

const look = async (endsBefore: (recorded: RecordedEvent) => boolean = () => false): Promise<readonly string[]> => {
  const found: string[] = [];
  for await (const ready of unfinished.inOrder({ upTo: await store.head(), endsBefore })) {
    expect(ready.type).toBe('ExecutionReady');
    found.push(ready.stream);
  }
  return found;
};
const unreadable: NewEvent = newEvent({ type: 'ExecutionStarted', data: '{', metadata: '{"org":"org_other"}' });

describe('executions that have not ended', () => {
  it('are found if the table was never folded', async () => {
    await allow(1, 2, 3);
    await end(2);
    expect(await look()).toEqual([action(1), action(3)]);
  });

  it('are found in the table and beyond it, each once, according to the log as it is now', async () => {
    await allow(1, 2, 3);
    await fold();
    await end(2);
    await allow(4, 5);
    await end(4);
    expect(await look()).toEqual([action(1), action(3), action(5)]);
    await fold();
    expect(await look()).toEqual([action(1), action(3), action(5)]);
  });

  it('include those that were claimed and left', async () => {
    await log.append(action(1), ...started(1));
    expect(await look()).toEqual([action(1)]);
    await fold();
    expect(await look()).toEqual([action(1)]);
  });

  it('include none that was refused or waits for approval', async () => {
    await log.append(action(1), ...started(1).slice(0, 1));
    expect(await look()).toEqual([]);
    await fold();
    expect(await look()).toEqual([]);
  });

  it('are found when they are ready only after their row was made', async () => {
    await log.append(action(1), ...started(1).slice(0, 2));
    await fold();
    await log.append(action(1), ...started(1).slice(2, 3));
    expect(await look()).toEqual([action(1)]);
  });

  it('are found although one of their events cannot be read', async () => {
    await allow(1);
    await store.append({ stream: action(1), expectedRevision: 2, events: [unreadable] });
    await allow(2);
    expect(await look()).toEqual([action(1), action(2)]);
  });

  it('include none from a table of another log', async () => {
    await allow(1);
    await fold();
    store = new MemoryEventStore();
    log = new GivenLog(store);
    unfinished = new UnfinishedExecutions(store, new PostgresOpenExecutions(pool, store));
    await allow(2);
    expect(await look()).toEqual([action(2)]);
  });

  it('are looked for no further than asked', async () => {
    await allow(1, 2);
    const { position } = (await store.readStream(action(2)))[0] as RecordedEvent;
    const isYoung = (recorded: RecordedEvent): boolean => recorded.position >= position;
    expect(await look(isYoung)).toEqual([action(1)]);
    await fold();
    expect(await look(isYoung)).toEqual([action(1)]);
  });

  it('are not searched again if all have ended', async () => {
    for (let number = 1; number <= 20; number += 1) await allow(number).then(() => end(number));
    expect(await look()).toEqual([]);
    const readAll = vi.spyOn(store, 'readAll');
    expect(await look()).toEqual([]);
    expect(readAll).not.toHaveBeenCalled();
    await allow(21);
    expect([await look(), await look()]).toEqual([[action(21)], [action(21)]]);
    expect(readAll.mock.calls.every(([after]) => after > START + 60n)).toBe(true);
  });

  it('are found however many there are', async () => {
    const numbers = Array.from({ length: 1_100 }, (_, index) => index + 1);
    for (const number of numbers) await allow(number);
    expect(await look()).toHaveLength(numbers.length);
    await fold();
    expect(await look()).toHaveLength(numbers.length);
  });
});
