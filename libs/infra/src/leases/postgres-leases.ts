import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { type Clock, ForeseenFault } from '#libs/domain/kernel';
import { MortalClient } from '../postgres/index.js';
import { SystemClock } from '../runtime/index.js';
import { HolderWatch, type HolderBeat } from './holder-watch.js';
import { isLockOf, keyOf } from './lease-keys.js';

/** How often a process that waits for a lease asks again. A takeover after a kill is then well within 5 s. */
const RETRY_MS = 500;
/**
 * How often a holder checks that its session still lives, which also shows that the holder does. Together with
 * ANSWER_TIMEOUT_MS this is less than HOLDER_SILENCE_MS, so a holder that is cut off from the database has stopped its
 * work before another one begins.
 */
const HEARTBEAT_MS = 500;
/**
 * After this time without an answer from the database a holder gives up; a waiting process does too, and asks again
 * over a new connection.
 */
const ANSWER_TIMEOUT_MS = 2_000;
/** The time limit for opening and for closing a connection to a server that may be gone. */
const CONNECTION_TIMEOUT_MS = 3_000;
/**
 * When the system begins to probe a silent peer. The sockets of a server that vanished are closed some minutes later.
 */
const KEEP_ALIVE_DELAY_MS = 10_000;

/**
 * The session that holds the lock. Its beat changes with the begin of its last statement, and each heartbeat is a
 * statement.
 */
const HOLDER = `pg_locks held join pg_stat_activity session using (pid)
  where ${isLockOf('$1')}`;
const BEAT = `session.pid::text || ' ' || session.backend_start::text || ' ' || session.query_start::text`;

class StandingStill extends ForeseenFault {
  override readonly name = 'StandingStill';
  constructor(lease: string) {
    super(`the process that holds the lease ${lease} stands still: its session is ended`);
  }
}

export interface PostgresLeasesOptions {
  readonly clock?: Pick<Clock, 'monotonicMs'>;
  /** A check of each new session, run before it asks for a lease. */
  readonly verify?: (connection: pg.ClientBase) => Promise<void>;
}

/**
 * Leases with one holder at a time: a session advisory lock, which the server frees when the holder's connection ends.
 * If a holder is frozen but keeps its connection, a waiting process ends its session. A lease only keeps other
 * processes idle; if two holders exist for a moment, expected revisions and checkpoints prevent damage (rule DEED-6).
 */
export class PostgresLeases {
  private readonly clock: Pick<Clock, 'monotonicMs'>;

  constructor(
    private readonly connectionString: string,
    private readonly options: PostgresLeasesOptions = {},
  ) {
    this.clock = options.clock ?? new SystemClock();
  }

  /** Takes the lease if it is free now; null if another session holds it. */
  tryTake(name: string): Promise<HeldLease | null> {
    return this.take(name, () => Promise.resolve());
  }

  /** @param onTaken called, over the same connection, if another session holds the lease */
  private async take(name: string, onTaken: (client: pg.Client) => Promise<void>): Promise<HeldLease | null> {
    const client = new MortalClient({
      connectionString: this.connectionString,
      application_name: `lease ${name}`,
      connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
      query_timeout: ANSWER_TIMEOUT_MS,
      keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    });
    const lost = new AbortController();
    client.on('error', (error) => lost.abort(error));
    client.on('end', () => lost.abort(new Error('the connection ended')));
    try {
      await client.connect();
      await this.options.verify?.(client);
      const { rows } = await client.query<{ taken: boolean }>(
        `select pg_try_advisory_lock(hashtextextended($1, 0)) as taken`,
        [keyOf(name)],
      );
      if (rows[0]?.taken) return new HeldLease(client, lost);
      await onTaken(client);
    } catch (error) {
      await letGo(client);
      throw error;
    }
    await letGo(client);
    return null;
  }

  /**
   * Runs `work` whenever the lease is held, until `signal` is aborted. `work` gets a signal of its own, which is
   * aborted when the lease is lost: it must then stop writing and return. The session of a holder that gives no sign of
   * life for {@link HOLDER_SILENCE_MS} is ended, because a frozen process would hold the lease for ever. Whatever only
   * the holder may write must be written over the lease's own session, which can write nothing once it has ended.
   */
  async hold(
    name: string,
    signal: AbortSignal,
    work: (held: AbortSignal, session: LeaseSession) => Promise<void>,
    onError: (error: unknown) => void,
  ): Promise<void> {
    const watch = new HolderWatch();
    let pauseMs = RETRY_MS;
    const onTaken = async (client: pg.Client): Promise<void> => {
      if (!watch.isSilent(await beatOf(client, name), this.clock.monotonicMs())) return;
      onError(new StandingStill(name));
      await endSession(client, name, watch.beat);
      watch.startAgain();
      pauseMs = 0;
    };
    while (!signal.aborted) {
      pauseMs = RETRY_MS;
      try {
        const lease = await this.take(name, onTaken);
        if (lease) {
          try {
            await work(AbortSignal.any([signal, lease.lost]), lease.session);
          } finally {
            await lease.release();
          }
        }
      } catch (error) {
        watch.startAgain();
        onError(error);
      }
      if (!signal.aborted) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

const letGo = async (client: pg.Client): Promise<void> => {
  await Promise.race([client.end().catch(() => undefined), sleep(CONNECTION_TIMEOUT_MS, undefined, { ref: false })]);
};

const beatOf = async (client: pg.Client, name: string): Promise<HolderBeat> => {
  const { rows } = await client.query<{ beat: HolderBeat }>(`select ${BEAT} as beat from ${HOLDER}`, [keyOf(name)]);
  return rows[0]?.beat ?? null;
};

/** Ends the holder's session, unless it has shown another beat meanwhile. */
const endSession = async (client: pg.Client, name: string, beat: HolderBeat): Promise<void> => {
  await client.query(`select pg_terminate_backend(session.pid) from ${HOLDER} and ${BEAT} = $2`, [keyOf(name), beat]);
};

/** The connection that holds a lease. Statements and heartbeats run on it one at a time. */
export type LeaseSession = Pick<pg.ClientBase, 'query'>;

export class HeldLease {
  readonly session: LeaseSession;
  private readonly heartbeat: NodeJS.Timeout;
  /** How many statements run or wait for their turn. */
  private statements = 0;
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly client: pg.Client,
    private readonly loss: AbortController,
  ) {
    this.session = { query: this.inTurn.bind(this) as LeaseSession['query'] };
    this.heartbeat = setInterval(() => {
      // Every statement is a beat. With slow answers, additional heartbeats would only pile up.
      if (this.statements === 0) this.session.query('select 1').catch((error: unknown) => this.loss.abort(error));
    }, HEARTBEAT_MS);
    this.heartbeat.unref();
  }

  get lost(): AbortSignal {
    return this.loss.signal;
  }

  async release(): Promise<void> {
    clearInterval(this.heartbeat);
    await letGo(this.client);
  }

  /**
   * Runs statements one after the other, because the next major version of pg will no longer queue them. The first
   * statement without an answer ends the connection, and with it the lease and all waiting statements.
   */
  private inTurn(...statement: unknown[]): Promise<unknown> {
    const query = this.client.query.bind(this.client) as (...statement: unknown[]) => Promise<unknown>;
    this.statements += 1;
    const next = this.last
      .then(() => query(...statement))
      .finally(() => {
        this.statements -= 1;
      });
    this.last = next.catch(() => undefined);
    return next;
  }
}
