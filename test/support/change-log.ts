import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import type { LoggedTransaction } from '#libs/domain/connectors';
import { SystemClock } from '#libs/infra/runtime';
import { ChangeLogReader, createSlot, type DialledConnection, dropSlot, type FollowedLog } from '#libs/infra/witness';
import { createEmptyDatabase } from './database.js';

/** A database whose changes are read: with a publication, a slot, and a connection that makes the changes. */
export interface LoggedDatabase {
  readonly connectionString: string;
  readonly client: pg.Client;
  readonly slot: string;
  readonly publication: string;
  readonly connection: DialledConnection;
  /** Publishes these tables besides the others. */
  publish(...tables: readonly string[]): Promise<void>;
  drop(): Promise<void>;
}

/** In the run's own server, which logs for such readers. */
export const createLoggedDatabase = async (publicationOptions = ''): Promise<LoggedDatabase> => {
  const { connectionString, drop } = await createEmptyDatabase();
  const logged = await logIn(connectionString, publicationOptions);
  return {
    ...logged,
    drop: async () => {
      await logged.drop();
      await drop();
    },
  };
};

/** In a database that is there: of a server that may be killed. */
export const logIn = async (connectionString: string, publicationOptions = ''): Promise<LoggedDatabase> => {
  const client = new pg.Client({ connectionString });
  client.on('error', () => undefined);
  await client.connect();
  const name = `ags_${randomBytes(6).toString('hex')}`;
  await client.query(`create publication ${name} ${publicationOptions}`);
  await createSlot(client, name);
  return {
    connectionString,
    client,
    slot: name,
    publication: name,
    connection: dialled(connectionString),
    publish: async (...tables) => {
      await client.query(`alter publication ${name} add table ${tables.join()}`);
    },
    drop: async () => {
      await client.query(
        `select pg_terminate_backend(active_pid) from pg_replication_slots where slot_name = '${name}'`,
      );
      while (!(await dropSlot(client, name).catch(() => delay(10))));
      await client.end();
    },
  };
};

const dialled = (connectionString: string): DialledConnection => {
  const { hostname, port, username, password, pathname } = new URL(connectionString);
  return {
    connect: async (): Promise<Duplex> => {
      const socket = connect(Number(port), hostname);
      await once(socket, 'connect');
      return socket;
    },
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
  };
};

/** A reader at work. */
export interface FollowedLogUnderTest {
  readonly seen: LoggedTransaction[];
  readonly positions: string[];
  /** Settles as `follow` does. */
  readonly ended: Promise<void>;
  /** Resolves when so many have been seen. Rejects where the reader has ended before. */
  has(count: number): Promise<readonly LoggedTransaction[]>;
  stop(): Promise<void>;
}

type Overrides = Partial<FollowedLog> & { readonly statusIntervalMs?: number };

export const followLog = (logged: LoggedDatabase, overrides: Overrides = {}): FollowedLogUnderTest => {
  const [seen, positions]: [LoggedTransaction[], string[]] = [[], []];
  const stopped = new AbortController();
  const { statusIntervalMs = 50, ...rest } = overrides;
  const ended = new ChangeLogReader(new SystemClock(), statusIntervalMs).follow({
    connection: logged.connection,
    slot: logged.slot,
    publication: logged.publication,
    signal: stopped.signal,
    onPosition: (lsn) => positions.push(lsn),
    ...rest,
    onTransaction: async (transaction) => {
      await overrides.onTransaction?.(transaction);
      seen.push(transaction);
    },
  });
  ended.catch(() => undefined);
  return {
    seen,
    positions,
    ended,
    has: async (count) => {
      const failed = ended.then(() => Promise.reject(new Error('the reader has ended')));
      failed.catch(() => undefined);
      while (seen.length < count) await Promise.race([failed, delay(2)]);
      return seen;
    },
    stop: async () => {
      stopped.abort();
      await ended;
    },
  };
};
