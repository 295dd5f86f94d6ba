import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type NewEvent, START } from '#libs/domain/kernel';
import { installSchemas } from '#libs/infra/schemas';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { newEvents, newStream } from '../../../../../test/support/new-event.js';
import { startOwnServer } from '../../../../../test/support/own-server.js';
import { DatabaseClient } from '../../postgres/index.js';
import { LogWentBack } from '../log-went-back.js';
import { PostgresEventStore } from './postgres-event-store.js';
import { SeenLog } from './seen-log.js';

let database: TestDatabase;
let side: pg.Client;
let store: PostgresEventStore;
const onWentBack = vi.fn();

const open = (): PostgresEventStore =>
  new PostgresEventStore({
    connectionString: database.connectionString,
    applicationName: 'went back',
    onConnectionLost: () => undefined,
    seenLog: new SeenLog(onWentBack),
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
/** Does what a failover or a restored snapshot does: events are lost, and so are all connections. */
const goBackTo = async (events: number): Promise<void> => {
  await side.query(`alter table event_store.events disable trigger user`);
  await side.query(`delete from event_store.events where position >= $1`, [events]);
  await loseConnections();
};
const loseConnections = () =>
  side.query(`select pg_terminate_backend(pid) from pg_stat_activity
               where application_name like 'went back%' and datname = current_database()`);

describe('a log that went back in time under a process (rule DEED-14)', () => {
  it('is noticed by the next connection, whatever its purpose', async () => {
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

  it('is noticed if it has grown again and another event has the position', async () => {
    await append(store, 3);
    await goBackTo(1);
    const next = open();
    await append(next, 5);
    await expect(store.head()).rejects.toThrow(LogWentBack);
    await next.close();
  });

  it('is noticed if it is empty now and has no tables', async () => {
    await append(store, 3);
    await side.query('drop schema event_store cascade');
    await loseConnections();
    await expect(store.head()).rejects.toThrow(LogWentBack);
  });

  it('is noticed after a batch in which one append was written and another met a conflict', async () => {
    const taken = newStream();
    await store.append({ stream: taken, expectedRevision: 'no_stream', events: newEvents(1) });
    const ends = await Promise.allSettled([
      append(store, 2),
      store.append({ stream: taken, expectedRevision: 'no_stream', events: newEvents(1) }),
    ]);
    expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await goBackTo(2);
    await expect(store.head()).rejects.toThrow(LogWentBack);
  });

  it('is not reported if the log is whole after the connections were lost', async () => {
    await append(store, 3);
    await loseConnections();
    expect(await store.head()).toBe(2n);
    await append(store, 1);
    expect(onWentBack).not.toHaveBeenCalled();
  });

  it('is not reported for a standby that has not yet replayed the whole log', async () => {
    const seenLog = new SeenLog(onWentBack);
    const server = await startOwnServer();
    const connect = async (): Promise<DatabaseClient> => {
      const client = new DatabaseClient({ connectionString: server.connectionString('postgres') });
      await client.connect();
      return client;
    };
    const primary = await connect();
    await installSchemas(server.connectionString('postgres'), ['event_store']);
    await primary.end();
    const [event] = newEvents(1) as [NewEvent];
    seenLog.see([{ ...event, stream: newStream(), revision: 0, position: 0n }]);
    await writeFile(join(server.stateDir, 'postgres', 'standby.signal'), '');
    await server.restart();
    const standby = await connect();
    await expect(seenLog.verify(standby)).rejects.toThrow('has not replayed');
    expect(onWentBack).not.toHaveBeenCalled();
    await standby.query('select pg_promote()');
    await expect(seenLog.verify(standby)).rejects.toThrow(LogWentBack);
    expect(onWentBack).toHaveBeenCalledTimes(1);
    await standby.end();
    await server.dispose();
  });
});
