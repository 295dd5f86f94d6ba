import pg from 'pg';
import { MortalClient } from './mortal-client.js';
import { adviceOnRefusedWrite } from './refused-writes.js';
import type { WriteDoubt } from './write-doubt.js';

export interface PoolOptions {
  readonly connectionString: string;
  /** Shown in `pg_stat_activity` and in the server's log. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** The server ends a statement after this time; the client stops waiting a little later. Default 5 s. */
  readonly statementTimeoutMs?: number;
  /**
   * A named statement is planned once per connection, and not for its values: for statements that have one good plan.
   * Otherwise the server plans some of them each time, which takes as long as running them. Default false.
   */
  readonly plansOnce?: boolean;
  /** Called when an idle connection was lost; the pool replaces it by itself. */
  readonly onError: (error: Error) => void;
  /**
   * A check of each new connection before it is used. If it throws, the first caller that would use the connection gets
   * the error.
   */
  readonly verify?: (connection: pg.ClientBase) => Promise<void>;
  /** Raised when the server says that it accepts no writes. */
  readonly doubt?: WriteDoubt;
}

const STATEMENT_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
/**
 * Connections that a burst has opened, above all a start, are closed soon, because each is a process of the server with
 * some 2.5 MiB. One stays open for the next call.
 */
export const IDLE_CONNECTIONS = { min: 1, idleTimeoutMillis: 5_000 } as const;
/** How much longer than the server's own timeout the client waits for a hung server (or network). */
const ANSWER_SLACK_MS = 500;

/**
 * A pool whose commits are durable when they are answered, whatever the database's own settings: for events, and for
 * every row that no append follows.
 */
export const createDurablePool = (options: PoolOptions): pg.Pool =>
  createPool(options, '-c synchronous_commit=on -c default_transaction_isolation=read\\ committed');

/**
 * A pool whose commits are answered before they reach the disk: for hints, and for rows that can be made again from the
 * log. Never for events, and never for rows that an event names: the server may crash and lose such a row, while the
 * append that names it is sent again and succeeds once the server is back.
 */
export const createRelaxedPool = (options: PoolOptions): pg.Pool => createPool(options, '-c synchronous_commit=off');

/** A pool that refuses every change, for programs that only read. */
export const createReadOnlyPool = (options: PoolOptions): pg.Pool =>
  createPool(options, '-c default_transaction_read_only=on');

const createPool = (options: PoolOptions, settings: string): pg.Pool => {
  const statementTimeoutMs = options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS;
  const pool = new pg.Pool({
    Client: MortalClient,
    connectionString: options.connectionString,
    application_name: options.applicationName,
    max: options.maxConnections,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    ...IDLE_CONNECTIONS,
    statement_timeout: statementTimeoutMs,
    query_timeout: statementTimeoutMs + ANSWER_SLACK_MS,
    idle_in_transaction_session_timeout: 2 * statementTimeoutMs,
    keepAlive: true,
    options: options.plansOnce === true ? `${settings} -c plan_cache_mode=force_generic_plan` : settings,
    ...(options.verify === undefined ? {} : { verify: poolVerify(options.verify) }),
  });
  // Without a listener the error of an idle connection would end the process.
  pool.on('error', options.onError);
  const { doubt } = options;
  if (doubt !== undefined) pool.on('connect', (client) => raiseOnRefusal(client, doubt));
  return pool;
};

/**
 * Raises the doubt when the server refuses a write, in any call over this connection. Costs nothing while no error
 * comes.
 */
const raiseOnRefusal = (client: pg.PoolClient, doubt: WriteDoubt): void => {
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('errorMessage', (said: unknown) => {
    if (adviceOnRefusedWrite(said) !== null) doubt.raise();
  });
};

/**
 * The check in the form that a pool takes: a connection that fails it is ended, and the caller that waits for it gets
 * the error.
 */
export const poolVerify =
  (verify: (connection: pg.ClientBase) => Promise<void>): NonNullable<pg.PoolConfig['verify']> =>
  (connection, done) => {
    verify(connection).then(
      () => done(),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
