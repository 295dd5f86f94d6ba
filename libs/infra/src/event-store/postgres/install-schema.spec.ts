import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../../test/support/database.js';
import { installEventStoreSchema, UnfitDatabase } from './install-schema.js';

describe('the event store’s schema', () => {
  let database: TestDatabase;
  let side: pg.Client;
  beforeEach(async () => {
    database = await createTestDatabase();
    side = new pg.Client({ connectionString: database.connectionString });
    await side.connect();
  });
  afterEach(async () => {
    await side.end();
    await database.drop();
  });

  it('is installed once if several processes do so at the same moment', async () => {
    await side.query('drop schema event_store cascade');
    const installed = await Promise.all([1, 2, 3].map(() => installEventStoreSchema(database.connectionString)));
    expect(installed.sort()).toEqual([0, 0, 1]);
    expect(await installEventStoreSchema(database.connectionString)).toBe(0);
    const { rows } = await side.query('select version from event_store.event_store_schema');
    expect(rows).toEqual([{ version: 1 }]);
  });

  it('gets the storage layout of this version even if an older version installed it', async () => {
    const layout = `select reloptions from pg_class where oid = 'event_store.events'::regclass`;
    expect((await side.query(layout)).rows).toEqual([{ reloptions: ['toast_tuple_target=8160'] }]);
    await side.query('alter table event_store.events reset (toast_tuple_target)');
    expect(await installEventStoreSchema(database.connectionString)).toBe(0);
    expect((await side.query(layout)).rows).toEqual([{ reloptions: ['toast_tuple_target=8160'] }]);
  });

  it('is refused and left unchanged if a newer version installed it', async () => {
    await side.query('insert into event_store.event_store_schema (version) values (99)');
    const attempt = installEventStoreSchema(database.connectionString);
    await expect(attempt).rejects.toBeInstanceOf(UnfitDatabase);
    await expect(attempt).rejects.toThrow('newer version');
  });

  it('refuses a database that cannot hold every text', async () => {
    const name = `ascii_${process.pid}`;
    await side.query(`create database ${name} template template0 encoding 'SQL_ASCII' locale 'C'`);
    const address = new URL(database.connectionString);
    address.pathname = `/${name}`;
    await expect(installEventStoreSchema(address.href)).rejects.toThrow('SQL_ASCII');
    await side.query(`drop database ${name}`);
  });
});
