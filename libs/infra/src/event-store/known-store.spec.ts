import type pg from 'pg';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/support/database.js';
import { firstOf, newStream } from '../../../../test/support/new-event.js';
import { createDurablePool } from '../postgres/index.js';
import { checkKnownStore, noteStore, requireKnownStore, WrongEventStore } from './known-store.js';
import { MemoryEventStore } from './memory/memory-event-store.js';
import { PostgresEventStore } from './postgres/postgres-event-store.js';

let database: TestDatabase;
let pool: pg.Pool;
const here = null;
const elsewhere = 'esdb://log:2113?tls=false';

beforeEach(async () => {
  database = await createTestDatabase();
  const { connectionString } = database;
  pool = createDurablePool({
    connectionString,
    applicationName: 'a spec',
    maxConnections: 3,
    onError: () => undefined,
  });
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const untilWaitsForLock = (): Promise<void> =>
  vi.waitFor(
    async () => {
      const waiting = await pool.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      );
      expect(waiting.rowCount).toBe(1);
    },
    { timeout: 10_000 },
  );

describe('the log that the rows of a database belong to', () => {
  it('is the first one that any of several processes notes, and stays that one', async () => {
    const store = new MemoryEventStore();
    await Promise.all(Array.from({ length: 2 }, () => requireKnownStore(pool, store, elsewhere)));
    await requireKnownStore(pool, store, elsewhere);
    await checkKnownStore(pool, store, elsewhere);
  });

  it('refuses any other store and writes nothing into it', async () => {
    await requireKnownStore(pool, new MemoryEventStore(), elsewhere);
    const other = new MemoryEventStore();
    await expect(requireKnownStore(pool, other, elsewhere)).rejects.toBeInstanceOf(WrongEventStore);
    await expect(checkKnownStore(pool, other, elsewhere)).rejects.toThrow(
      'the one that EVENT_STORE_URL names is an empty one',
    );
    expect(await other.head()).toBe(-1n);
    const id = await other.storeId();
    await expect(checkKnownStore(pool, other, elsewhere)).rejects.toThrow(`EVENT_STORE_URL names is ${id}`);
  });

  it('is the new one after the log was moved', async () => {
    await requireKnownStore(pool, new MemoryEventStore(), here);
    const moved = new MemoryEventStore();
    await noteStore(pool, await moved.storeId(), () => Promise.resolve());
    await requireKnownStore(pool, moved, elsewhere);
  });

  it('stays the same if the check of a move fails, and no process starts until then', async () => {
    const first = new MemoryEventStore();
    await requireKnownStore(pool, first, here);
    const ends: string[] = [];
    let starting: Promise<void> | undefined;
    const moving = noteStore(pool, 'another', async () => {
      starting = requireKnownStore(pool, first, here).finally(() => ends.push('start'));
      await untilWaitsForLock();
      ends.push('check');
      throw new Error('it may not');
    });
    await expect(moving).rejects.toThrow('it may not');
    await starting;
    expect(ends).toEqual(['check', 'start']);
  });

  it('refuses a process that starts on the old store while the log is moved', async () => {
    const first = new MemoryEventStore();
    await requireKnownStore(pool, first, here);
    let starting: Promise<unknown> | undefined;
    await noteStore(pool, 'another', async () => {
      starting = checkKnownStore(pool, first, here).catch((error: unknown) => error);
      await untilWaitsForLock();
    });
    expect(await starting).toBeInstanceOf(WrongEventStore);
  });

  it('is not the log in the database if EVENT_STORE_URL was forgotten, even without tables of a log', async () => {
    await requireKnownStore(pool, new MemoryEventStore(), elsewhere);
    const { connectionString } = database;
    const forgotten = new PostgresEventStore({
      connectionString,
      applicationName: 'forgotten',
      onConnectionLost: () => undefined,
    });
    await expect(checkKnownStore(pool, forgotten, here)).rejects.toThrow('but the log in it is an empty one');
    await pool.query('drop schema event_store cascade');
    await expect(checkKnownStore(pool, forgotten, here)).rejects.toBeInstanceOf(WrongEventStore);
    await forgotten.close();
  });

  it('is not a separate store that already has a log, because its rows are in another database', async () => {
    const store = new MemoryEventStore();
    const id = await store.storeId();
    await requireKnownStore(pool, store, elsewhere);
    await pool.query('delete from public.known_event_store');
    await store.append(firstOf(newStream()));
    for (const refused of [requireKnownStore(pool, store, elsewhere), checkKnownStore(pool, store, elsewhere)]) {
      await expect(refused).rejects.toBeInstanceOf(WrongEventStore);
      await expect(refused).rejects.toThrow(`EVENT_STORE_URL names (${id}) has the log of a deployment`);
    }
    await requireKnownStore(pool, store, here);
    await checkKnownStore(pool, store, elsewhere);
  });

  it('is a separate store that another start noted and filled at the same moment', async () => {
    const store = new MemoryEventStore();
    await store.storeId();
    await store.append(firstOf(newStream()));
    await requireKnownStore(pool, new MemoryEventStore(), here);
    await pool.query('delete from public.known_event_store');
    const asked = store.head.bind(store);
    vi.spyOn(store, 'head').mockImplementation(async () => {
      await noteStore(pool, await store.storeId(), () => Promise.resolve());
      return asked();
    });
    await requireKnownStore(pool, store, elsewhere);
  });

  it('is unknown to a database that no start has prepared, and the check passes', async () => {
    await checkKnownStore(pool, new MemoryEventStore(), here);
  });
});
