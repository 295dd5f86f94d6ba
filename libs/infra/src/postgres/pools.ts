import pg from 'pg';
import { MortalClient } from './mortal-client.js';
import { adviceOnRefusedWrite } from './refused-writes.js';
import type { WriteDoubt } from './write-doubt.js';

export interface PoolOptions {
  readonly connectionString: string;
  /** Shown in `pg_stat_activity` and in the server's log. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** Ends a statement on the server, and a little later the wait for it. Default 5 s. */
  readonly statementTimeoutMs?: number;
  /**
   * A named statement is planned once a connection, and never for its values: for statements that have one good plan. The
   * server would plan some of them each time, which takes as long as running them. Default false.
   */
  readonly plansOnce?: boolean;
  /** Told when an idle connection was lost; the pool replaces it by itself. */
  readonly onError: (error: Error) => void;
  /** Asked of each new connection before it is used; what it throws is its first user's error. */
  readonly verify?: (connection: pg.ClientBase) => Promise<void>;
  /** Raised when the server says that it takes no writes. */
  readonly doubt?: WriteDoubt;
}

const STATEMENT_TIMEOUT_MS = 5_000;
const CONNECT_TIMEOUT_MS = 3_000;
/**
 * What a burst has opened, a start above all, is given back soon: each connection is a process of the server, of some 2.5 MiB.
 * One stays, so that the next call finds it open.
 */
export const IDLE_CONNECTIONS = { min: 1, idleTimeoutMillis: 5_000 } as const;
/** What a hung server (or network) gets on top of the server's own timeout before the client gives up. */
const ANSWER_SLACK_MS = 500;

/**
 * Commits are durable when they are answered, whatever the database's own defaults: for events, and for every row that no
 * append follows.
 */
export const createDurablePool = (options: PoolOptions): pg.Pool =>
  createPool(options, '-c synchronous_commit=on -c default_transaction_isolation=read\\ committed');

/**
 * Commits are answered before they reach the disk: for hints, and rows that come back from the log. Never for events, and never
 * for what an event names: the server may crash between the two, and lose it, and be sent the append again when it is back.
 */
export const createRelaxedPool = (options: PoolOptions): pg.Pool => createPool(options, '-c synchronous_commit=off');

/** Refuses every change: for whoever only looks. */
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
  // An idle connection's error without a listener would end the process.
  pool.on('error', options.onError);
  const { doubt } = options;
  if (doubt !== undefined) pool.on('connect', (client) => raiseOnRefusal(client, doubt));
  return pool;
};

/** By what the server says, whoever asked: nothing is looked at where all is well. */
const raiseOnRefusal = (client: pg.PoolClient, doubt: WriteDoubt): void => {
  const { connection } = client as unknown as { connection: NodeJS.EventEmitter };
  connection.on('errorMessage', (said: unknown) => {
    if (adviceOnRefusedWrite(said) !== null) doubt.raise();
  });
};

/** As a pool wants it: a connection that is refused is ended, and whoever waits for it gets the error. */
export const poolVerify =
  (verify: (connection: pg.ClientBase) => Promise<void>): NonNullable<pg.PoolConfig['verify']> =>
  (connection, done) => {
    verify(connection).then(
      () => done(),
      (error: unknown) => done(error instanceof Error ? error : new Error(String(error))),
    );
  };
