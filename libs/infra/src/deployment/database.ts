import type pg from 'pg';
import type { Logger } from '#libs/domain/kernel';
import { installKeySchema } from '../agents/index.js';
import type { Config } from '../config/index.js';
import { installEventStoreSchema, PostgresEventStore } from '../event-store/index.js';
import { installGateSchema } from '../gate/index.js';
import { installIdempotencySchema } from '../idempotency/index.js';
import { installLedgerSchema } from '../ledger/index.js';
import {
  createDurablePool,
  createRelaxedPool,
  ensureDatabase,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '../postgres/index.js';
import type { DataSource } from 'typeorm';
import { installReadModels, readModelSource } from '../read-models/index.js';
import { installVaultSchema } from '../vault/index.js';

const DATABASE_NAME = 'service';
const DURABLE_CONNECTIONS = 4;
const RELAXED_CONNECTIONS = 4;
const READ_MODEL_CONNECTIONS = 3;
/** A list that searches longer answers 504 `timeout`. */
const LIST_TIMEOUT_MS = 10_000;

/** The deployment's PostgreSQL: the log, the read models and the rows beside the log. */
export interface Database {
  readonly connectionString: string;
  readonly store: PostgresEventStore;
  /** Commits are on disk when they are answered. */
  readonly durable: pg.Pool;
  /** For rows that an append makes durable: same server, same WAL. */
  readonly relaxed: pg.Pool;
  /** For whoever answers lists. */
  readonly readModels: DataSource;
  /** Closes what this process opened; the last process of an embedded server stops it. */
  close(): Promise<void>;
}

/** Starts or reaches the database and brings its schemas up to date. Any number of processes may do so at once. */
export const openDatabase = async (config: Config, applicationName: string, log: Logger): Promise<Database> => {
  const embedded = config.databaseUrl === null ? await startEmbeddedPostgres({ stateDir: config.stateDir, log }) : null;
  try {
    const connectionString = embedded?.connectionString(DATABASE_NAME) ?? (config.databaseUrl as string);
    await ensureDatabase(connectionString);
    await installEventStoreSchema(connectionString);
    await installReadModels(connectionString);
    return await connected(connectionString, embedded, applicationName, log);
  } catch (error) {
    await embedded?.release();
    throw error;
  }
};

const connected = async (
  connectionString: string,
  embedded: EmbeddedPostgres | null,
  applicationName: string,
  log: Logger,
): Promise<Database> => {
  const onError = (error: Error): void => log.warn('an idle database connection was lost', { error });
  const durable = createDurablePool({
    connectionString,
    applicationName,
    maxConnections: DURABLE_CONNECTIONS,
    onError,
  });
  const relaxed = createRelaxedPool({
    connectionString,
    applicationName,
    maxConnections: RELAXED_CONNECTIONS,
    onError,
  });
  const store = new PostgresEventStore({ connectionString, applicationName, onConnectionLost: onError });
  const readModels = readModelSource({
    connectionString,
    applicationName,
    maxConnections: READ_MODEL_CONNECTIONS,
    statementTimeoutMs: LIST_TIMEOUT_MS,
    isDurable: false,
    onError,
  });
  await readModels.initialize();
  const close = async (): Promise<void> => {
    await store.close();
    await Promise.all([durable.end(), relaxed.end(), readModels.destroy()]);
    await embedded?.release();
  };
  for (const install of [
    installVaultSchema,
    installGateSchema,
    installKeySchema,
    installLedgerSchema,
    installIdempotencySchema,
  ]) {
    await install(durable);
  }
  return { connectionString, store, durable, relaxed, readModels, close };
};
