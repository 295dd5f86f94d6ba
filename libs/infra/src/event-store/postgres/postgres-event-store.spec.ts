import pg from 'pg';
import { eventStoreContract, type EventStoreHarness } from '../../../../../test/contracts/event-store.contract.js';
import { startOwnServer } from '../../../../../test/support/own-server.js';
import { silentLogger } from '../../../../../test/support/silent-logger.js';
import { ensureDatabase } from '../../postgres/index.js';
import { installEventStoreSchema } from './install-schema.js';
import { PostgresEventStore } from './postgres-event-store.js';

/** Runs at the commit, when the positions are long taken: about every twentieth event holds it up for 0 to 3 ms. */
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
  await installEventStoreSchema(connectionString);
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
