import { EventEmitter, once } from 'node:events';
import pg from 'pg';
import { expect, it } from 'vitest';
import { installSchemas } from '#libs/infra/schemas';
import { eventStoreContract, type EventStoreHarness } from '../../../../../test/contracts/event-store.contract.js';
import { createTestDatabase } from '../../../../../test/support/database.js';
import { firstOf, newStream } from '../../../../../test/support/new-event.js';
import { startOwnServer } from '../../../../../test/support/own-server.js';
import { silentLogger } from '../../../../../test/support/silent-logger.js';
import { ensureDatabase } from '../../postgres/index.js';
import { InProcessBus } from '../../runtime/index.js';
import { PostgresEventStore } from './postgres-event-store.js';

/** The longest time that a timer can have. */
const NEVER_MS = 2 ** 31 - 1;

/** Runs at the commit, long after the positions were assigned: delays about every twentieth event by 0 to 3 ms. */
const DELAY_COMMITS = `
create or replace function delay_commit() returns trigger language plpgsql as $$
begin
  if random() < 0.05 then perform pg_sleep(random() * 0.003); end if;
  return null;
end $$;
create constraint trigger delay_commit after insert on event_store.events
  deferrable initially deferred for each row execute function delay_commit()`;

const start = async (): Promise<EventStoreHarness> => {
  const server = await startOwnServer();
  const connectionString = server.connectionString('log');
  await ensureDatabase(connectionString, silentLogger);
  await installSchemas(connectionString, ['event_store']);
  const opened: PostgresEventStore[] = [];
  const run = async (database: string, sql: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: server.connectionString(database) });
    await client.connect();
    await client.query(sql);
    return client;
  };
  return {
    open: () => {
      const store = new PostgresEventStore({
        connectionString,
        applicationName: 'contract',
        onConnectionLost: () => undefined,
        maxReadConnections: 2,
        // A server that recovers while other work runs takes longer than the default.
        deadlineMs: 30_000,
      });
      opened.push(store);
      return Promise.resolve(store);
    },
    restart: () => server.restart(),
    delayCommits: async () => (await run('log', DELAY_COMMITS)).end(),
    openTransactionElsewhere: async () => {
      await (await run('postgres', 'create database elsewhere')).end();
      const client = await run('elsewhere', 'begin; select pg_current_xact_id()');
      return async () => {
        await client.query('rollback');
        await client.end();
      };
    },
    close: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await server.dispose();
    },
  };
};

eventStoreContract('postgres', start);

it('uses indexes even if the log has grown since the connection was made', async () => {
  const { connectionString, drop } = await createTestDatabase();
  const store = new PostgresEventStore({
    connectionString,
    applicationName: 'a spec',
    onConnectionLost: () => undefined,
    maxReadConnections: 1,
  });
  const side = new pg.Client({ connectionString });
  await side.connect();
  const streams = Array.from({ length: 3_000 }, newStream);
  const askAll = async (stream: string): Promise<void> => {
    expect(await store.heads([stream])).toEqual(new Map([[stream, 0]]));
    expect(await store.readStream(stream, { limit: 5 })).toHaveLength(1);
    expect(await store.readStream(stream, { direction: 'backwards', limit: 5 })).toHaveLength(1);
    const head = await store.head();
    expect(await store.readAll(head - 2n, 5)).toHaveLength(2);
  };
  const [first, second, ...rest] = streams as [string, string, ...string[]];
  await store.append(firstOf(first));
  await store.append(firstOf(second));
  // After some executions PostgreSQL keeps the plan of a prepared statement: here, one for a table with two rows.
  for (let round = 0; round < 8; round += 1) await askAll(first);
  await Promise.all(rest.map((stream) => store.append(firstOf(stream))));
  await askAll(rest.at(-1) as string);
  await store.close();
  expect(await rowsReadInTurn(side)).toBeLessThan(1_000);
  await side.end();
  await drop();
});

it('a process that never polls learns through the bus what another process has appended', async () => {
  const { connectionString, drop } = await createTestDatabase();
  const bus = new InProcessBus(silentLogger);
  const open = (): PostgresEventStore => {
    const store = new PostgresEventStore({
      connectionString,
      applicationName: 'a spec',
      onConnectionLost: () => undefined,
      maxReadConnections: 1,
      pollIntervalMs: NEVER_MS,
    });
    store.tellOn(bus);
    return store;
  };
  const [writer, reader] = [open(), open()];
  const told: string[] = [];
  const isUpToDate = new EventEmitter();
  const subscription = reader.subscribeToAll({
    after: await reader.head(),
    onEvents: (events) => {
      told.push(...events.map(({ stream }) => stream));
      isUpToDate.emit(told.at(-1) as string);
      return Promise.resolve();
    },
    onError: (error) => {
      throw error;
    },
  });
  const streams = [newStream(), newStream(), newStream()];
  for (const stream of streams) {
    const seen = once(isUpToDate, stream);
    await writer.append(firstOf(stream));
    await seen;
  }
  expect(told).toEqual(streams);
  await subscription.close();
  await Promise.all([writer.close(), reader.close()]);
  await drop();
});

/** How many rows of the log were read by sequential scans, in all connections to this database that have ended. */
const rowsReadInTurn = async (side: pg.Client): Promise<number> => {
  for (let others = 1; others > 0;) {
    const { rowCount } = await side.query(
      'select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
    );
    others = rowCount ?? 0;
  }
  const { rows } = await side.query<{ read: string }>(
    `select seq_tup_read as read from pg_stat_user_tables where schemaname = 'event_store' and relname = 'events'`,
  );
  return Number(rows[0]?.read);
};
