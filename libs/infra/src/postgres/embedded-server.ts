import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '#libs/domain/kernel';
import { DatabaseClient } from './database-client.js';
import { sqlStateOf } from './sql-state.js';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import {
  choosePort,
  findPostmaster,
  initializeDataDirectory,
  spawnPostmaster,
  stopPostmaster,
  type SpawnedPostmaster,
} from './server-process.js';
import { withScramOnly } from './scram-only.js';
import { dataDirOf, prepareServerSite, SUPERUSER, type ServerPurpose, type ServerSite } from './server-site.js';
import { fatalIn, mendDataDirectory, refusedBy } from './start-fault.js';
import { withStartLock } from './start-lock.js';

const ADMIN_DATABASE = 'postgres';
/**
 * The number of the advisory lock that every process which uses the server holds shared, in the database `postgres`:
 * the letters AGS1.
 */
const USERS_LOCK = 0x41475331;

/** Recovery of a large write-ahead log takes long; it is under way as long as the server process lives. */
const READY_DEADLINE_MS = 120_000;
/**
 * The leftover processes of a killed server may keep its shared memory for a moment, and a new server refuses to start
 * until then.
 */
const START_DEADLINE_MS = 15_000;
const POLL_MS = 25;
const RESTART_BACKOFF_MS = { first: 100, longest: 5_000 } as const;
const LAST_USER_RETRY_MS = 50;

const INVALID_PASSWORD = '28P01';
/** The server is starting, stopping or recovering (57P), or ended under the connection (08, no state at all). */
const NOT_YET = /^(57P|08)/;

export interface EmbeddedPostgresOptions {
  /** Created if it is missing. The data is in `postgres` inside it, that of a demo in `demo/postgres`. */
  readonly stateDir: string;
  /** Default: the database of the service. */
  readonly purpose?: ServerPurpose;
  readonly log: Logger;
}

export interface EmbeddedPostgres {
  /** Contains the password, so never log it. Stays valid across restarts of the server. */
  connectionString(database: string): string;
  /** Stops using the server. The last process that does so stops the server and waits until it has ended. */
  release(): Promise<void>;
}

/**
 * Starts the PostgreSQL of a state directory, or adopts one that runs there: left by a killed process, or in use by a
 * live one. Returns when the server answers. Until `release`, a server that ends is started again.
 *
 * Every process that uses the server holds a shared advisory lock on a connection of its own, which the kernel closes
 * however the process ends. A process that releases the server and can then take that lock exclusively was the last
 * user, and stops the server.
 *
 * @throws {EmbeddedPostgresError} when the server cannot run here; the message says what to do
 */
export const startEmbeddedPostgres = async ({
  stateDir,
  purpose,
  log,
}: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> => {
  const server = new SharedServer(await prepareServerSite(stateDir, purpose), log);
  await server.acquire();
  return server;
};

/** Whether a server runs on the data of a state directory. Only looks and creates nothing. */
export const isEmbeddedPostgresRunning = async (stateDir: string, purpose?: ServerPurpose): Promise<boolean> =>
  (await findPostmaster({ dataDir: await dataDirOf(stateDir, purpose) })) !== null;

interface Tenure {
  readonly client: pg.Client;
  readonly port: number;
}

class SharedServer implements EmbeddedPostgres {
  private tenure: Tenure | null = null;
  private recovery: Promise<void> | null = null;
  private readonly released = new AbortController();

  constructor(
    private readonly site: ServerSite,
    private readonly log: Logger,
  ) {}

  connectionString(database: string): string {
    if (!this.tenure) throw new EmbeddedPostgresError('The embedded PostgreSQL was released.');
    return addressOf(this.site, this.tenure.port, database);
  }

  async acquire(): Promise<void> {
    await withStartLock(this.site.startLock, async () => {
      const client = await this.ensureRunning();
      await client.query('select pg_advisory_lock_shared($1)', [USERS_LOCK]);
      const port = client.port;
      if (this.tenure && port !== this.tenure.port) {
        this.log.error('PostgreSQL came back on another port: restart this process', { port });
      }
      this.tenure = { client, port };
      client.once('end', () => this.onLost());
    });
  }

  async release(): Promise<void> {
    if (this.released.signal.aborted) return;
    this.released.abort();
    await this.recovery;
    const tenure = this.tenure;
    this.tenure = null;
    if (!tenure) return;
    await withStartLock(this.site.startLock, async () => {
      const postmaster = await findPostmaster(this.site);
      if (postmaster && (await this.isLastUser(tenure.client))) await stopPostmaster(postmaster);
      await tenure.client.end();
    });
  }

  /**
   * Whether no other process uses the server. The caller holds the start lock, so no process can start to use it
   * meanwhile.
   */
  private async isLastUser(client: pg.Client): Promise<boolean> {
    try {
      await client.query('select pg_advisory_unlock_shared($1)', [USERS_LOCK]);
      for (const waitMs of [0, LAST_USER_RETRY_MS]) {
        // The server notices the closed connection of a killed process a moment later than the kernel.
        await delay(waitMs);
        const { rows } = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [
          USERS_LOCK,
        ]);
        if (rows[0]?.alone) return true;
      }
      return false;
    } catch (error) {
      // Without the connection it is unknown who else uses the server, so it is left running; the next start adopts it.
      this.log.warn('PostgreSQL was left running: its connection was lost on release', { error });
      return false;
    }
  }

  private onLost(): void {
    if (this.released.signal.aborted) return;
    this.log.warn('PostgreSQL ended or closed the connection; starting it again');
    this.recovery ??= this.recover().finally(() => {
      this.recovery = null;
    });
  }

  private async recover(): Promise<void> {
    const { signal } = this.released;
    for (let waitMs: number = RESTART_BACKOFF_MS.first; !signal.aborted;) {
      try {
        await this.acquire();
        this.log.info('PostgreSQL answers again');
        return;
      } catch (error) {
        this.log.error('PostgreSQL could not be started again', { error, retry_in_ms: waitMs });
        await delay(waitMs, undefined, { signal }).catch(() => 'released');
        waitMs = Math.min(waitMs * 2, RESTART_BACKOFF_MS.longest);
      }
    }
  }

  private async ensureRunning(): Promise<pg.Client> {
    if (await initializeDataDirectory(this.site)) this.log.info('PostgreSQL data directory made');
    let spawned: SpawnedPostmaster | null = null;
    for (const startedAt = performance.now(); ; await delay(POLL_MS)) {
      if (this.released.signal.aborted) throw new EmbeddedPostgresError('The embedded PostgreSQL was released.');
      const elapsedMs = performance.now() - startedAt;
      const postmaster = await findPostmaster(this.site);
      if (postmaster && postmaster.port > 0) {
        const client = await connectIfReady(this.site, postmaster.port);
        if (client) return client;
        if (elapsedMs > READY_DEADLINE_MS) throw await notReady(spawned);
      } else if (!postmaster && (spawned === null || spawned.hasExited())) {
        const fatal = spawned && fatalIn(await spawned.log(), spawned.pid);
        if (fatal) throw refusedBy(fatal, this.site);
        if (elapsedMs > START_DEADLINE_MS) throw await notReady(spawned);
        if (spawned) await delay(RESTART_BACKOFF_MS.first);
        await mendDataDirectory(this.site, this.log);
        // The port may not change once this process has given out connection strings.
        spawned = await spawnPostmaster(this.site, await choosePort(this.site, this.tenure !== null));
      }
    }
  }
}

const addressOf = (site: ServerSite, port: number, database: string): string =>
  withScramOnly(`postgres://${SUPERUSER}:${site.password}@127.0.0.1:${port}/${encodeURIComponent(database)}`);

/** A connection to the server; null while it does not accept connections yet. */
const connectIfReady = async (site: ServerSite, port: number): Promise<pg.Client | null> => {
  const client = new DatabaseClient({
    connectionString: addressOf(site, port, ADMIN_DATABASE),
    application_name: 'ags server user',
  });
  try {
    await client.connect();
    return client;
  } catch (error) {
    const state = sqlStateOf(error);
    if (state === INVALID_PASSWORD) {
      throw new EmbeddedPostgresError(
        `The PostgreSQL in ${site.dataDir} does not accept the password in postgres.password. Put back the one that ` +
          'belongs to this data directory.',
        { cause: error },
      );
    }
    if (state === null || NOT_YET.test(state)) return null;
    throw error;
  }
};

const notReady = async (spawned: SpawnedPostmaster | null): Promise<EmbeddedPostgresError> =>
  new EmbeddedPostgresError(
    `The embedded PostgreSQL does not start. Its log says:\n${(await spawned?.log()) ?? '(nothing: it was already running)'}`,
  );
