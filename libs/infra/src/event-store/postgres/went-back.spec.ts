import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { START } from '#libs/domain/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { newEvents, newStream } from '../../../../../test/support/new-event.js';
import { LogWentBack, PostgresEventStore } from './postgres-event-store.js';

let database: TestDatabase;
let side: pg.Client;
let store: PostgresEventStore;
const onWentBack = vi.fn();

const open = (): PostgresEventStore =>
  new PostgresEventStore({
    connectionString: database.connectionString,
    applicationName: 'went back',
    onConnectionLost: () => undefined,
    onWentBack,
  });

beforeEach(async () => {
  database = await createTestDatabase();
  side = new pg.Client({ connectionString: database.connectionString });
  await side.connect();
  store = open();
  onWentBack.mockClear();
});
afterEach(async () => {
  await store.close();
  await side.end();
  await database.drop();
});

const append = (some: PostgresEventStore, count: number) =>
  some.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(count) });
/** What a failover or a restored snapshot does: no connection survives it. */
const goBackTo = async (events: number): Promise<void> => {
  await side.query(`alter table event_store.events disable trigger user`);
  await side.query(`delete from event_store.events where position >= $1`, [events]);
  await loseConnections();
};
const loseConnections = () =>
  side.query(`select pg_terminate_backend(pid) from pg_stat_activity
               where application_name like 'went back%' and datname = current_database()`);

describe('a log that went back in time under a process (F-08)', () => {
  it('is noticed by the next connection, whatever it is for', async () => {
    await append(store, 3);
    await goBackTo(1);
    await expect(store.head()).rejects.toThrow(LogWentBack);
    await expect(append(store, 1)).rejects.toThrow('went back in time');
    expect(onWentBack.mock.calls[0]).toEqual([
      expect.objectContaining({ message: expect.stringContaining('2') as string }),
    ]);
  });

  it('is noticed by a process that only reads', async () => {
    const reader = open();
    await append(store, 3);
    expect(await reader.readAll(START, 10)).toHaveLength(3);
    await goBackTo(2);
    await expect(reader.readAll(START, 10)).rejects.toThrow(LogWentBack);
    await reader.close();
  });

  it('and has grown again since: another event stands there', async () => {
    await append(store, 3);
    await goBackTo(1);
    const next = open();
    await append(next, 5);
    await expect(store.head()).rejects.toThrow(LogWentBack);
    await next.close();
  });

  it('and one that is whole is read on', async () => {
    await append(store, 3);
    await loseConnections();
    expect(await store.head()).toBe(2n);
    await append(store, 1);
    expect(onWentBack).not.toHaveBeenCalled();
  });
});
