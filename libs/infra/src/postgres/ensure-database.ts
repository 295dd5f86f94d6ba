import pg from 'pg';
import { sqlStateOf } from './sql-state.js';

const UNKNOWN_DATABASE = '3D000';
const CONNECT_TIMEOUT_MS = 3_000;
/** A new database is a copy of the empty template. */
const CREATE_TIMEOUT_MS = 60_000;
/** 42P04 duplicate_database; 23505 when two processes create it in the same moment. */
const CREATED_BY_ANOTHER = new Set(['42P04', '23505']);

/**
 * Creates the database of a connection string when it is missing: UTF-8, byte order, from the empty template.
 * Connects to the database `postgres` for it, and only then.
 *
 * @returns whether this call created it
 */
export const ensureDatabase = async (connectionString: string): Promise<boolean> => {
  if (await exists(connectionString)) return false;
  const address = new URL(connectionString);
  const name = decodeURIComponent(address.pathname.slice(1));
  address.pathname = '/postgres';
  const client = await connect(address.href);
  try {
    await client.query(`create database ${pg.escapeIdentifier(name)} template template0 encoding 'UTF8' locale 'C'`);
    return true;
  } catch (error) {
    if (CREATED_BY_ANOTHER.has(sqlStateOf(error) ?? '')) return false;
    throw error;
  } finally {
    await client.end();
  }
};

const exists = async (connectionString: string): Promise<boolean> => {
  try {
    await (await connect(connectionString)).end();
    return true;
  } catch (error) {
    if (sqlStateOf(error) === UNKNOWN_DATABASE) return false;
    throw error;
  }
};

const connect = async (connectionString: string): Promise<pg.Client> => {
  const client = new pg.Client({
    connectionString,
    application_name: 'ags ensure database',
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: CREATE_TIMEOUT_MS,
  });
  await client.connect();
  return client;
};
