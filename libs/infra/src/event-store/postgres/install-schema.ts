import type pg from 'pg';
import { DatabaseClient } from '../../postgres/index.js';
import { APPEND_FUNCTION } from './append-function.sql.js';

/**
 * `position` has no gaps and no sequence behind it; the append function gives it out. Data and metadata are text, given
 * back byte for byte (jsonb would reorder members and refuse U+0000). Names compare by bytes, whatever the database does.
 */
const EVENTS_TABLE = `
create table event_store.events (
  position bigint primary key check (position >= 0),
  stream text collate "C" not null,
  revision bigint not null check (revision >= 0),
  id uuid not null,
  type text collate "C" not null,
  data text collate "C" not null,
  metadata text collate "C" not null,
  unique (stream, revision)
)`;

/** Never edited once released: a change is a new entry at the end. Version n is entry n - 1. */
const VERSIONS: readonly (readonly string[])[] = [[EVENTS_TABLE]];

/** The schema that this build installs. */
export const EVENT_STORE_VERSION = VERSIONS.length;

/**
 * The event of a deed has 3 KB, of hashes and signatures for the most part: PostgreSQL would try in vain to make it shorter
 * and then put it into a table beside, which took a quarter of the time of its insertion.
 */
const EVENTS_LAYOUT = `
do $layout$ begin
  if not exists (select from pg_class
                  where oid = 'event_store.events'::regclass and reloptions @> '{toast_tuple_target=8160}') then
    alter table event_store.events set (toast_tuple_target = 8160);
  end if;
end $layout$`;

const VERSIONS_TABLE = `
create table if not exists event_store.event_store_schema (
  version integer primary key,
  installed_at timestamptz not null default now()
)`;

const INSTALL_LOCK = 4702;

/** The database cannot hold the log; the message says why. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase';
}

/**
 * Brings the event store's schema up to this build's version; several processes may do so at once.
 *
 * @returns how many versions this call installed
 * @throws {UnfitDatabase} not UTF-8, or already used by a newer build
 */
export const installEventStoreSchema = async (connectionString: string): Promise<number> => {
  const client = new DatabaseClient({ connectionString, application_name: 'ags schema' });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [INSTALL_LOCK]);
    const installed = await install(client);
    await client.query('commit');
    return installed;
  } finally {
    await client.end();
  }
};

const install = async (client: pg.Client): Promise<number> => {
  const encoding = await client.query<{ server_encoding: string }>('show server_encoding');
  if (encoding.rows[0]?.server_encoding !== 'UTF8') {
    throw new UnfitDatabase(
      `The database is encoded in ${encoding.rows[0]?.server_encoding ?? 'nothing known'}, which cannot hold every ` +
        "event. Create one with encoding 'UTF8' and name it where this one is named, as in DATABASE_URL.",
    );
  }
  await client.query('create schema if not exists event_store');
  await client.query(VERSIONS_TABLE);
  const { rows } = await client.query<{ version: number }>(
    'select coalesce(max(version), 0) as version from event_store.event_store_schema',
  );
  const current = rows[0]?.version ?? 0;
  if (current > VERSIONS.length) {
    throw new UnfitDatabase(
      `The event store was written by a newer version of the service (schema ${current}, this one knows ` +
        `${VERSIONS.length}). Run that version.`,
    );
  }
  for (const [index, statements] of VERSIONS.entries()) {
    if (index < current) continue;
    for (const statement of statements) await client.query(statement);
    await client.query('insert into event_store.event_store_schema (version) values ($1)', [index + 1]);
  }
  // No versions of their own: whichever build wrote them, they promise the same, and processes of both run side by side.
  await client.query(APPEND_FUNCTION);
  await client.query(EVENTS_LAYOUT);
  return VERSIONS.length - current;
};
