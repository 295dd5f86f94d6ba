import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { newEvents, newStream } from '../../../../test/support/new-event.js';
import { silentLogger } from '../../../../test/support/silent-logger.js';
import { parseConfig } from '../config/index.js';
import { PostgresLeases } from '../leases/index.js';
import { type Database, openDatabase } from './database.js';

let testDatabase: TestDatabase;
let stateDir: string;
let database: Database;
let side: pg.Client;

beforeEach(async () => {
  testDatabase = await createTestDatabase();
  stateDir = await mkdtemp(join(tmpdir(), 'ags-database-'));
  const settings = { DATABASE_URL: testDatabase.connectionString, SERVICE_STATE_DIR: stateDir };
  database = await openDatabase(parseConfig(settings), 'a spec', silentLogger);
  side = new pg.Client({ connectionString: testDatabase.connectionString });
  await side.connect();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await side.end();
  await database.close();
  await testDatabase.drop();
  await rm(stateDir, { recursive: true });
});

/** What a failover does that lost the log's end: no connection survives it. */
const goBack = async (): Promise<void> => {
  await side.query(`delete from event_store.events where position > 0`);
  await side.query(`select pg_terminate_backend(pid) from pg_stat_activity
                     where pid <> pg_backend_pid() and datname = current_database()`);
};

describe('a process whose database went back in time (rule DEED-14)', () => {
  it.each([
    ['events', () => database.store.head()],
    ['what must be on disk', () => database.durable.query('select 1')],
    ['rows beside the log', () => database.relaxed.query('select 1')],
    ['lists and projections', () => database.readModels.query('select 1')],
    [
      'a lease',
      () => new PostgresLeases(database.connectionString, { verify: database.seenLog.verify }).tryTake('sealer'),
    ],
  ])('ends before a new connection for %s is used', async (_title, use) => {
    const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    await database.store.append({ stream: newStream(), expectedRevision: 'no_stream', events: newEvents(3) });
    await goBack();
    // A connection whose end has not arrived yet says so first.
    await vi.waitFor(() => expect(use()).rejects.toThrow('went back in time'), 10_000);
    expect(exit).toHaveBeenCalledWith(1);
  });
});
