import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from '#libs/domain/kernel';
import { DatabaseClient } from './database-client.js';
import { sqlStateOf } from './sql-state.js';

const UNKNOWN_DATABASE = '3D000';
/** The server's answer while it accepts no connections yet, because it starts or recovers from a crash. */
const STARTING = '57P03';
/** A recovery that takes longer needs an operator. */
const START_TIMEOUT_MS = 60_000;
const START_POLL_MS = 200;
/** Enough to copy the empty template into a new database. */
const CREATE_TIMEOUT_MS = 60_000;
/** 42P04 duplicate_database; 23505 when two processes create it in the same moment. */
const CREATED_BY_ANOTHER = new Set(['42P04', '23505']);

/**
 * Creates the database of a connection string if it is missing: UTF-8, byte order, from the empty template. Connects to
 * the database `postgres` only if it has to create one. Waits for a server that says it is starting.
 *
 * @returns whether this call created it
 */
export const ensureDatabase = async (connectionString: string, log: Logger): Promise<boolean> => {
  if (await existsOnceStarted(connectionString, log)) return false;
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

/**
 * Fails if {@link ensureDatabase} would fail because of the server or the login, and waits for a starting server in the
 * same way. Creates nothing.
 */
export const requireReachable = async (connectionString: string, log: Logger): Promise<void> => {
  await existsOnceStarted(connectionString, log);
};

const existsOnceStarted = async (connectionString: string, log: Logger): Promise<boolean> => {
  for (let waitedMs = 0; ; waitedMs += START_POLL_MS) {
    try {
      return await exists(connectionString);
    } catch (error) {
      if (sqlStateOf(error) !== STARTING || waitedMs >= START_TIMEOUT_MS) throw error;
      if (waitedMs === 0) log.warn('the database is starting and takes no connections yet; waiting for it', { error });
    }
    await delay(START_POLL_MS);
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

const connect = async (connectionString: string): Promise<DatabaseClient> => {
  const client = new DatabaseClient({
    connectionString,
    application_name: 'ags ensure database',
    query_timeout: CREATE_TIMEOUT_MS,
  });
  await client.connect();
  return client;
};
