import type pg from 'pg';
import type { EventStore } from '#libs/domain/kernel';
import { installSchema, sqlStateOf } from '../postgres/index.js';
import { knownStoreIdOf, STORE_STREAM } from './store-id.js';

const TABLE = `create table if not exists public.known_event_store (
  only_row boolean primary key default true check (only_row),
  store_id text not null
)`;
const NO_SUCH_TABLE = '42P01';

/** This PostgreSQL and the log that the settings name do not belong together. */
export class WrongEventStore extends Error {
  override readonly name = 'WrongEventStore';
}

/**
 * Notes at the first start which log the rows belong to, and refuses every other from then on: a setting that was
 * forgotten, or a store that was made anew. A log elsewhere that others have begun to fill belongs to the rows of another
 * database, with its keys, arguments and credentials.
 *
 * @param eventStoreUrl null where the log lies in the same PostgreSQL
 * @throws {WrongEventStore}
 */
export const requireKnownStore = async (
  pool: pg.Pool,
  store: EventStore,
  eventStoreUrl: string | null,
): Promise<void> => {
  await installSchema(pool, 'known event store', [TABLE]);
  await checkKnownStore(pool, store, eventStoreUrl);
  const known = (await notedStore(pool)) ?? (await note(pool, await store.storeId()));
  await compare(known, store, eventStoreUrl);
};

/** As {@link requireKnownStore}, where nothing may be written. */
export const checkKnownStore = async (
  pool: pg.Pool,
  store: EventStore,
  eventStoreUrl: string | null,
): Promise<void> => {
  const known = await notedStore(pool);
  if (known !== null) return compare(known, store, eventStoreUrl);
  const filled = eventStoreUrl === null ? null : await filledStoreOf(store);
  // Whoever fills a log has noted it before: of two first starts at once, one may have done both meanwhile.
  if (filled !== null && (await notedStore(pool)) === null) throw strangeStore(filled);
};

/**
 * From now on the rows belong to this log: those that hold positions of another are void, and made anew from it. Meanwhile
 * no process starts on either: each asks first which one is known, and waits for the answer.
 *
 * @param check that it may be so
 * @throws what the check throws: nothing has changed then
 */
export const noteStore = async (pool: pg.Pool, storeId: string, check: () => Promise<void>): Promise<void> => {
  await installSchema(pool, 'known event store', [TABLE]);
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
    // Closing the connection ends the transaction, also where no rollback would get through.
    client.release(true);
    throw error;
  }
};

const compare = async (known: string, store: EventStore, eventStoreUrl: string | null): Promise<void> => {
  const found = await knownStoreIdOf(store).catch(nullWithoutTable);
  if (found !== known) throw otherStore(known, found, eventStoreUrl);
};

/** The id of a log in which more than its id was written; null for every other. */
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

/** The id of the log that the rows belong to; null where no start has noted it yet. */
export const notedStore = async (pool: pg.Pool): Promise<string | null> => {
  try {
    const { rows } = await pool.query<{ store_id: string }>('select store_id from public.known_event_store');
    return rows[0]?.store_id ?? null;
  } catch (error) {
    return nullWithoutTable(error);
  }
};

/** Nothing was ever installed there. */
const nullWithoutTable = (error: unknown): null => {
  if (sqlStateOf(error) === NO_SUCH_TABLE) return null;
  throw error;
};

/** Of processes that start at once, one notes it and all agree. */
const note = async (pool: pg.Pool, storeId: string): Promise<string> => {
  await pool.query('insert into public.known_event_store (store_id) values ($1) on conflict do nothing', [storeId]);
  return (await notedStore(pool)) ?? storeId;
};
