import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from '#libs/domain/kernel';
import { EMBEDDED_DATABASE, type Config } from '../config/index.js';
import { openRunningLog, requireKnownStore, type RunningLog, SeenLog } from '../event-store/index.js';
import { GATE_APPEND_FUNCTIONS, PostgresPayloadStore } from '../gate/index.js';
import {
  createDurablePool,
  createRelaxedPool,
  ensureDatabase,
  requireReachable,
  requireServerSite,
  startEmbeddedPostgres,
  WriteDoubt,
  type EmbeddedPostgres,
} from '../postgres/index.js';
import type { DataSource } from 'typeorm';
import { readModelSource } from '../read-models/index.js';
import { installSchemas, startedSchemas } from '../schemas/index.js';

const DURABLE_CONNECTIONS = 5;
const RELAXED_CONNECTIONS = 3;
const READ_MODEL_CONNECTIONS = 3;
/** A list that searches longer answers 504 `timeout`. */
const LIST_TIMEOUT_MS = 10_000;

type Preparation = 'done' | 'changed' | 'skipped';

/** How long closed pools are waited for. */
const POOLS_END_MS = 3_000;

/** The deployment's PostgreSQL, read models and the rows beside the log, and the log itself, wherever it lies. */
export interface Database extends Omit<RunningLog, 'close'> {
  readonly connectionString: string;
  /** `done`: made now; `changed`: brought up to this version; `skipped`: was as it must be. */
  readonly preparation: Preparation;
  readonly payloads: PostgresPayloadStore;
  /** Commits are on disk when they are answered: above all of rows that an event names, whose append follows. */
  readonly durable: pg.Pool;
  /** For rows that may be lost: hints, made again from the log. */
  readonly relaxed: pg.Pool;
  /** For whoever answers lists. */
  readonly readModels: DataSource;
  /** For whoever makes a connection of its own. */
  readonly seenLog: SeenLog;
  /** Closes what this process opened; the last process of an embedded server stops it. */
  close(): Promise<void>;
}

/** Refuses a database that cannot be had, while there is nothing yet to take back. Makes nothing. */
export const requireDatabase = ({ databaseUrl, stateDir }: Config, log: Logger): Promise<void> =>
  databaseUrl === null ? requireServerSite(stateDir) : requireReachable(databaseUrl, log);

/** Starts or reaches the database and brings its schemas up to date. Any number of processes may do so at once. */
export const openDatabase = async (config: Config, applicationName: string, log: Logger): Promise<Database> => {
  const embedded = config.databaseUrl === null ? await startEmbeddedPostgres({ stateDir: config.stateDir, log }) : null;
  try {
    const connectionString = embedded?.connectionString(EMBEDDED_DATABASE) ?? (config.databaseUrl as string);
    const isNew = await ensureDatabase(connectionString, log);
    const isLogHere = config.eventStoreUrl === null;
    const changes = await installSchemas(connectionString, startedSchemas(isLogHere), { log });
    const preparation = isNew ? 'done' : changes > 0 ? 'changed' : 'skipped';
    const database = await connected(config, connectionString, embedded, applicationName, log);
    return { ...database, preparation };
  } catch (error) {
    await embedded?.release();
    throw error;
  }
};

/** At once, as by kill -9: whatever it would still write comes from a log that is no more. */
const onWentBack = ({ message }: Error): void => {
  process.stderr.write(`${message}\n`);
  process.exit(1);
};

const connected = async (
  { eventStoreUrl, failpoints }: Config,
  connectionString: string,
  embedded: EmbeddedPostgres | null,
  applicationName: string,
  log: Logger,
): Promise<Omit<Database, 'preparation'>> => {
  let isClosing = false;
  const onError = (error: Error): void => {
    // A pool lets go of connections whose server it does not wait for, and an embedded one is stopped next.
    if (!isClosing) log.warn('an idle database connection was lost', { error });
  };
  const seenLog = new SeenLog(onWentBack);
  const doubt = new WriteDoubt();
  const common = { connectionString, applicationName, onError, verify: seenLog.verify, doubt };
  const durable = createDurablePool({ ...common, maxConnections: DURABLE_CONNECTIONS });
  const relaxed = createRelaxedPool({ ...common, maxConnections: RELAXED_CONNECTIONS });
  const payloads = new PostgresPayloadStore(durable);
  const { close: closeLog, ...running } = openRunningLog(
    { eventStoreUrl, connectionString },
    {
      applicationName,
      log,
      onConnectionLost: onError,
      onWentBack,
      seenLog,
      doubt,
      functions: GATE_APPEND_FUNCTIONS,
      payloads,
      hasFailpoints: failpoints !== null,
      isLongLived: true,
    },
  );
  const readModels = readModelSource({
    ...common,
    maxConnections: READ_MODEL_CONNECTIONS,
    statementTimeoutMs: LIST_TIMEOUT_MS,
    isDurable: false,
  });
  await readModels.initialize();
  const disconnect = async (): Promise<void> => {
    isClosing = true;
    await closeLog();
    // A pool waits for connections that nobody gives back. All work has ended by now: the process ends them with itself.
    const ended = Promise.all([durable.end(), relaxed.end(), readModels.destroy()]);
    await Promise.race([ended, sleep(POOLS_END_MS, undefined, { ref: false })]);
  };
  try {
    await requireKnownStore(durable, running.store, eventStoreUrl);
    await running.store.requireUsable();
  } catch (error) {
    await disconnect();
    throw error;
  }
  const close = async (): Promise<void> => {
    await disconnect();
    await embedded?.release();
  };
  return { connectionString, ...running, payloads, durable, relaxed, readModels, seenLog, close };
};
