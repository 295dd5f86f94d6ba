import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StoreUnavailable } from '#libs/domain/kernel';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { firstOf, newStream } from '../../../../../test/support/new-event.js';
import { createDurablePool, WriteDoubt } from '../../postgres/index.js';
import { PostgresEventStore } from './postgres-event-store.js';

/** Makes the server refuse inserts as it does when the disk is full. */
const REFUSE = `
create function refuse() returns trigger language plpgsql as $$
begin raise exception 'No space left on device' using errcode = '53100'; end $$;
create trigger refuse before insert on event_store.events for each statement execute function refuse()`;

let database: TestDatabase;
let side: pg.Client;
let store: PostgresEventStore;
let doubt: WriteDoubt;

beforeEach(async () => {
  database = await createTestDatabase();
  side = new pg.Client({ connectionString: database.connectionString });
  await side.connect();
  doubt = new WriteDoubt();
  store = new PostgresEventStore({ ...options(), doubt });
});
afterEach(async () => {
  await store.close();
  await side.end();
  await database.drop();
});

const options = () => ({
  connectionString: database.connectionString,
  applicationName: 'refused',
  onConnectionLost: () => undefined,
});

describe('a log that refuses appends', () => {
  it('fails with the server’s words, and is unusable until a trial append is accepted and rolled back', async () => {
    await store.append(firstOf(newStream()));
    await store.requireUsable();
    await side.query(REFUSE);
    const refused = await store.append(firstOf(newStream())).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(StoreUnavailable);
    expect((refused as Error).message).toContain('53100');
    await expect(store.requireUsable()).rejects.toThrow('53100');
    await expect(store.requireUsable()).rejects.toThrow('53100');
    await side.query('drop trigger refuse on event_store.events');
    const head = await store.head();
    await store.requireUsable();
    expect(await store.head()).toBe(head);
  });

  it('is suspected as soon as a row beside the log was refused', async () => {
    const { onConnectionLost: onError, ...place } = options();
    const pool = createDurablePool({ ...place, onError, maxConnections: 1, doubt });
    await side.query(REFUSE);
    await store.requireUsable();
    await expect(pool.query(`do $$ begin raise 'full' using errcode = '53100'; end $$`)).rejects.toThrow('full');
    await expect(store.requireUsable()).rejects.toThrow('53100');
    await pool.end();
  });
});
