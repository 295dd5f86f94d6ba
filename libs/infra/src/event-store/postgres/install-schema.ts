import type pg from 'pg';
import { DatabaseClient } from '../../postgres/index.js';
import { APPEND_FUNCTION } from './append-function.sql.js';

/**
 * Positions have no gaps: the append function assigns them, not a sequence. Data and metadata are text, given back byte
 * for byte (jsonb would reorder members and refuse U+0000). Names are compared by bytes, whatever the collation of the
 * database.
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

/** Never edit a released entry: a change is a new entry at the end. Version n is entry n - 1. */
const VERSIONS: readonly (readonly string[])[] = [[EVENTS_TABLE]];

/** The version of the schema that this build installs. */
export const EVENT_STORE_VERSION = VERSIONS.length;

/**
 * The event of a deed has 3 KB, mostly hashes and signatures. By default PostgreSQL would try in vain to compress it
 * and then move it to a TOAST table, which took a quarter of the time of the insert.
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

/** The database is not fit to hold the log; the message says why. */
export class UnfitDatabase extends Error {
  override readonly name = 'UnfitDatabase';
}

/**
 * Brings the event store's schema up to this build's version; several processes may do so at once.
 *
 * @returns how many versions this call installed
 * @throws {UnfitDatabase} when the database is not in UTF-8, or a newer build has already used it
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
  // These have no version numbers: the forms of all builds are compatible, so whichever build installed them last,
  // processes of different builds can run side by side.
  await client.query(APPEND_FUNCTION);
  await client.query(EVENTS_LAYOUT);
  return VERSIONS.length - current;
};
