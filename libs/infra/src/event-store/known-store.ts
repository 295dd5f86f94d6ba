import type pg from 'pg';
import type { EventStore } from '#libs/domain/kernel';
import { sqlStateOf } from '../postgres/index.js';
import { installSchemas } from '../schemas/index.js';
import { knownStoreIdOf, STORE_STREAM } from './store-id.js';

const NO_SUCH_TABLE = '42P01';

/** The event store that the settings name is not the one that this PostgreSQL belongs to. */
export class WrongEventStore extends Error {
  override readonly name = 'WrongEventStore';
}

/**
 * Notes at the first start which event store the rows of this PostgreSQL belong to, and refuses any other one from then
 * on: for instance when a setting was forgotten, or when the store was created anew. At the first start it refuses a
 * separate event store that already has a log, because that log belongs to the rows of another database, with its keys,
 * arguments and credentials.
 *
 * @param eventStoreUrl null if the log is in the same PostgreSQL
 * @throws {WrongEventStore} when the rows belong to another store, or the store to other rows
 */
export const requireKnownStore = async (
  pool: pg.Pool,
  store: EventStore,
  eventStoreUrl: string | null,
): Promise<void> => {
  await installSchemas(pool, ['known_event_store']);
  await checkKnownStore(pool, store, eventStoreUrl);
  const known = (await notedStore(pool)) ?? (await note(pool, await store.storeId()));
  await compare(known, store, eventStoreUrl);
};

/** The same checks as {@link requireKnownStore}, without writing anything. */
export const checkKnownStore = async (
  pool: pg.Pool,
  store: EventStore,
  eventStoreUrl: string | null,
): Promise<void> => {
  const known = await notedStore(pool);
  if (known !== null) return compare(known, store, eventStoreUrl);
  const filled = eventStoreUrl === null ? null : await filledStoreOf(store);
  // A process notes a store before it writes to it. If two first starts run at once, the other one may have done both
  // since the note was read above, so the note is read again.
  if (filled !== null && (await notedStore(pool)) === null) throw strangeStore(filled);
};

/**
 * Makes the rows belong to this log from now on. Rows that hold positions of another log are void, and are made anew
 * from this one. Until the transaction ends, no process starts on either log, because each process first reads the
 * known store and waits for the lock.
 *
 * @param check throws if the rows must not be changed
 * @throws what `check` throws; nothing has changed then
 */
export const noteStore = async (pool: pg.Pool, storeId: string, check: () => Promise<void>): Promise<void> => {
  await installSchemas(pool, ['known_event_store']);
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('lock table public.known_event_store in access exclusive mode');
    await check();
    await client.query(
      `insert into public.known_event_store (store_id) values ($1)
         on conflict (only_row) do update set store_id = excluded.store_id`,
      [storeId],
    );
    await client.query('commit');
    client.release();
  } catch (error) {
    // Closing the connection ends the transaction even if a rollback could not reach the server.
    client.release(true);
    throw error;
  }
};

const compare = async (known: string, store: EventStore, eventStoreUrl: string | null): Promise<void> => {
  const found = await knownStoreIdOf(store).catch(nullWithoutTable);
  if (found !== known) throw otherStore(known, found, eventStoreUrl);
};

/** The id of a store that holds more events than the one with its id; null for any other store. */
const filledStoreOf = async (store: EventStore): Promise<string | null> => {
  const id = await knownStoreIdOf(store);
  const [created] = id === null ? [] : await store.readStream(STORE_STREAM, { limit: 1 });
  return created && (await store.head()) > created.position ? id : null;
};

const otherStore = (known: string, found: string | null, eventStoreUrl: string | null): WrongEventStore =>
  new WrongEventStore(
    `This PostgreSQL belongs to the event store ${known}, but ` +
      `${eventStoreUrl === null ? 'the log in it' : 'the one that EVENT_STORE_URL names'} is ${found ?? 'an empty one'}. ` +
      'Going on would begin a second history beside the first. Set EVENT_STORE_URL to the store that has the log, or ' +
      'leave it unset if the log is in PostgreSQL. A log is moved by `npm run ags -- migrate events`.',
  );

const strangeStore = (found: string): WrongEventStore =>
  new WrongEventStore(
    `This PostgreSQL belongs to no event store yet, but the one that EVENT_STORE_URL names (${found}) has the log of a ` +
      'deployment, whose keys, arguments and credentials lie in another PostgreSQL. Set DATABASE_URL to that one (without ' +
      'it, it is the embedded one of SERVICE_STATE_DIR). If it was lost, restore its backup: docs/deployment.md.',
  );

/** The id of the store that the rows belong to; null if no start has noted one yet. */
export const notedStore = async (pool: pg.Pool): Promise<string | null> => {
  try {
    const { rows } = await pool.query<{ store_id: string }>('select store_id from public.known_event_store');
    return rows[0]?.store_id ?? null;
  } catch (error) {
    return nullWithoutTable(error);
  }
};

/** Null if the table does not exist, because no start has installed it yet. */
const nullWithoutTable = (error: unknown): null => {
  if (sqlStateOf(error) === NO_SUCH_TABLE) return null;
  throw error;
};

/**
 * Notes a store id and returns the one that counts: if several processes start at once, the first note counts for all.
 */
const note = async (pool: pg.Pool, storeId: string): Promise<string> => {
  await pool.query('insert into public.known_event_store (store_id) values ($1) on conflict do nothing', [storeId]);
  return (await notedStore(pool)) ?? storeId;
};
