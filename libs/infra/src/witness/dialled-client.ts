import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { allowOnlyScram, MortalClient } from '#libs/infra/postgres';
import type { Questioned } from './slots.js';

/** What a role connects as, over a stream that is ready for PostgreSQL's start-up message: dialled, and in TLS where asked. */
export interface DialledConnection {
  readonly connect: () => Promise<Duplex>;
  readonly user: string;
  readonly password: string;
  readonly database: string;
  /** Ends the connection for as long as it is not signed in. */
  readonly signal?: AbortSignal;
}

/** The texts of the log must not depend on what a database or role is set to. */
const SETTINGS = {
  datestyle: 'ISO',
  intervalstyle: 'postgres',
  extra_float_digits: '3',
  bytea_output: 'hex',
  timezone: 'UTC',
  search_path: 'pg_catalog',
  lc_monetary: 'C',
  // Ours is longer than a status is late, whatever the server's is.
  wal_sender_timeout: '60s',
  statement_timeout: '0',
  idle_session_timeout: '0',
} as const;

const START_UP_TIMEOUT_MS = 10_000;

/** What `pg` does not declare of its connection, and what reading a log needs of it. */
export interface WireConnection {
  readonly stream: Duplex;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  on(event: 'copyData', listener: (message: { readonly chunk: Buffer }) => void): void;
  once(event: 'replicationStart', listener: () => void): void;
  emit(event: 'error', error: Error): boolean;
}

export const wireOf = (client: pg.Client): WireConnection =>
  (client as unknown as { connection: WireConnection }).connection;

/**
 * A connection whose password was never sent but by SCRAM.
 * @param mode `replication`: it takes the place of a sender of the log, of which a server has few
 */
export const dialledClient = async (
  connection: DialledConnection,
  mode: 'replication' | 'ordinary' = 'replication',
): Promise<pg.Client> => {
  const { connect, user, password, database, signal } = connection;
  const stream = readyForStartUp(await connect());
  const end = (): unknown => stream.destroy();
  const client = new MortalClient({
    stream: () => stream,
    // Both for messages only: the stream is connected.
    host: 'localhost',
    port: 5432,
    ssl: false,
    keepAlive: false,
    user,
    password,
    database,
    application_name: 'ags change log',
    connectionTimeoutMillis: START_UP_TIMEOUT_MS,
    options: Object.entries(SETTINGS)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    ...(mode === 'ordinary' ? {} : ({ replication: 'database' } as object)),
  });
  allowOnlyScram(client);
  signal?.addEventListener('abort', end);
  try {
    signal?.throwIfAborted();
    await client.connect();
    return client;
  } catch (error) {
    end();
    throw error;
  } finally {
    signal?.removeEventListener('abort', end);
  }
};

/** Asks so that a server which is silent ends the connection: it may be up for ever all the same. */
export const impatient = (client: pg.Client, answerMs = ANSWER_TIMEOUT_MS): Questioned => ({
  query: <Row extends pg.QueryResultRow>(text: string) => {
    // `pg` knows the timeout of one statement, and does not declare it.
    const asked: pg.QueryConfig & { readonly query_timeout: number } = { text, query_timeout: answerMs };
    return client.query<Row>(asked);
  },
});

const ANSWER_TIMEOUT_MS = 10_000;

/** `pg` dials by itself: for one that is connected it hears at once that it is. */
const readyForStartUp = (stream: Duplex): Duplex =>
  Object.assign(stream, {
    setNoDelay: 'setNoDelay' in stream ? stream.setNoDelay : () => stream,
    connect: () => {
      setImmediate(() => stream.emit('connect'));
      return stream;
    },
  });
