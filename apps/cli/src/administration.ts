import { join } from 'node:path';
import type pg from 'pg';
import type { Command } from '@nestjs/cqrs';
import { AgentKernel, IssueKeys } from '#libs/domain/agents';
import type * as AgentCommands from '#libs/domain/agents/handlers';
import type { PayloadComparison } from '#libs/domain/gate';
import type { RetentionReach } from '#libs/domain/ledger';
import {
  CommandRunner,
  FoldedStreams,
  operatorMetadata,
  type Clock,
  type EventStore,
  type CommandMetadata,
  type Logger,
  type OrgId,
  type Randomness,
} from '#libs/domain/kernel';
import { isInitialized, PepperKeyHasher, PostgresKeyDirectory, requirePepper } from '#libs/infra/agents';
import {
  EMBEDDED_DATABASE,
  isThere,
  missingSecretFiles,
  readSecretFile,
  secretPathsOf,
  type Config,
} from '#libs/infra/config';
import { checkKnownStore, openEventStore, type OpenedEventStore } from '#libs/infra/event-store';
import { createDurablePool, sqlStateOf, startEmbeddedPostgres, type EmbeddedPostgres } from '#libs/infra/postgres';
import { InProcessBus, SystemClock, SystemRandomness, untilInterrupted } from '#libs/infra/runtime';
import type { ledgerBreaksOf as LedgerBreaksOf } from '#libs/infra/deployment';
import { Census } from './census.js';
import { CliError } from './cli-error.js';
import { refuseInterruptedStart } from './interruption.js';

const APPLICATION_NAME = 'ags cli';
const CONNECTIONS = 2;
const NO_SUCH_DATABASE = '3D000';
const NO_SUCH_TABLE = '42P01';

/**
 * What agents, keys and organizations are administered with: the log and the key directory of a deployment that is there
 * already. It installs and migrates nothing, so it is safe beside a service of another version, and quick: an operator
 * who stops an agent is in a hurry.
 */
export class Administration {
  readonly clock: Clock = new SystemClock();
  readonly census: Census;
  readonly randomness: Randomness = new SystemRandomness();
  private readonly kernel: AgentKernel;

  private constructor(
    private readonly connection: Connection,
    pepper: Buffer,
    logger: Logger,
  ) {
    const { store, pool } = connection;
    const streams = new FoldedStreams(store);
    const directory = new PostgresKeyDirectory(pool);
    const keys = new IssueKeys(directory, new PepperKeyHasher(pepper), this.randomness);
    const runner = new CommandRunner(store, streams);
    this.kernel = new AgentKernel(runner, keys, this.randomness, new InProcessBus(logger));
    this.census = new Census(store, streams, directory);
  }

  /** @throws {CliError} not_initialized @throws {SecretFileError} {PepperMismatch} {EmbeddedPostgresError} {WrongEventStore} each saying what to do */
  static async open(config: Config, logger: Logger): Promise<Administration> {
    await requireInitialized(config);
    const connection = await connect(config, logger);
    try {
      await requirePrepared(connection.pool, config);
      await checkKnownStore(connection.pool, connection.store, config.eventStoreUrl);
      const pepper = await readSecretFile(secretPathsOf(config).pepper);
      await requirePepper(connection.pool, pepper);
      return new Administration(connection, pepper, logger);
    } catch (error) {
      await disconnect(connection);
      throw error;
    }
  }

  /** Every fact there is. */
  get log(): EventStore {
    return this.connection.store;
  }

  /** What is stored beside the log. */
  async payloads(): Promise<PayloadComparison> {
    // It would load the gate for every other command.
    const { PostgresPayloadComparison } = await import('#libs/infra/gate');
    return new PostgresPayloadComparison(this.connection.pool);
  }

  /**
   * Links and codes of a database that went back in time: one that was used since is unused again there. Sessions end by
   * themselves, since their streams do not say that they started.
   */
  async voidLinks(): Promise<void> {
    try {
      await this.connection.pool.query('delete from people.tokens');
      await this.connection.pool.query('delete from people.mail_orders');
      await this.connection.pool.query('delete from people.outbox');
    } catch (error) {
      // A backup from before people could sign in: its tables are made at the next start.
      if (sqlStateOf(error) !== NO_SUCH_TABLE) throw error;
    }
  }

  /** How far retention has removed that. */
  async retention(): Promise<RetentionReach> {
    const [{ RetentionReach }, { PostgresRetentionRows }] = await Promise.all([
      import('#libs/domain/ledger'),
      import('#libs/infra/gate'),
    ]);
    return new RetentionReach(this.connection.store, new PostgresRetentionRows(this.connection.pool));
  }

  /** What begins trees anew, and what was signed of them as the state directory remembers it. */
  async ledgerBreaks(config: Config, logger: Logger): Promise<ReturnType<typeof LedgerBreaksOf>> {
    const { ledgerBreaksOf } = await import('#libs/infra/deployment');
    return ledgerBreaksOf(this.connection.store, this.connection.pool, config, logger);
  }

  /** Commands of agents, of admin keys and of the Stop of an organization. Loaded here alone: whoever only reads begins sooner. */
  async execute<Result>(commandOf: (commands: typeof AgentCommands) => Command<Result>): Promise<Result> {
    const [commands, { commandBusOf }] = await Promise.all([
      import('#libs/domain/agents/handlers'),
      import('#libs/infra/commands'),
    ]);
    const handlers = [...commands.AGENT_HANDLERS, ...commands.ORGANIZATION_HANDLERS];
    return commandBusOf(handlers.map((Handler) => new Handler(this.kernel))).execute(commandOf(commands));
  }

  /** Of a command by whoever holds the machine: no person, no key. */
  metadata(org: OrgId | null): CommandMetadata {
    return operatorMetadata(this, org);
  }

  async close(): Promise<void> {
    await disconnect(this.connection);
  }
}

/**
 * A command started in the wrong folder must not make a database there.
 * @throws {CliError} not_initialized @throws {SecretFileError} a deployment that lost a key file
 * @throws {StateDirectoryError} one that this user may not look into
 */
export const requireInitialized = async (config: Config): Promise<void> => {
  const { vaultKey, pepper } = secretPathsOf(config);
  const paths = [vaultKey, pepper, join(config.stateDir, 'postgres')];
  const [hasVaultKey, hasPepper, hasCluster] = await Promise.all(paths.map((path) => isThere(config.stateDir, path)));
  const missing = [...(hasVaultKey ? [] : [vaultKey]), ...(hasPepper ? [] : [pepper])];
  if (config.databaseUrl === null && !hasCluster) throw notInitialized(config);
  if (missing.length === 0) return;
  // Neither file: of this machine nothing can be told. The database knows whether there is a deployment elsewhere.
  if (config.databaseUrl !== null && missing.length === 2) await requirePreparedAt(config.databaseUrl, config);
  // A deployment without its secrets: making new ones, as for a new deployment, would make it worse.
  throw missingSecretFiles(missing);
};

const notInitialized = ({ stateDir, databaseUrl }: Config): CliError => {
  const [place, setting] =
    databaseUrl === null
      ? [`There is no service in ${stateDir} yet.`, 'SERVICE_STATE_DIR']
      : [
          `There is no service in ${stateDir} and the database that DATABASE_URL names yet.`,
          'SERVICE_STATE_DIR and DATABASE_URL',
        ];
  return new CliError(
    'not_initialized',
    `${place} Set ${setting} to where it lives, or make one with \`npm run ags -- init\`.`,
  );
};

interface Connection {
  readonly embedded: EmbeddedPostgres | null;
  readonly store: OpenedEventStore;
  readonly pool: pg.Pool;
}

/** The deployment's PostgreSQL; an embedded one runs as long as it is held. */
export const openRows = async (
  { databaseUrl, stateDir }: Config,
  log: Logger,
): Promise<{ readonly connectionString: string; readonly embedded: EmbeddedPostgres | null }> => {
  const embedded = databaseUrl === null ? await startEmbeddedPostgres({ stateDir, log }) : null;
  const connectionString = databaseUrl ?? (embedded as EmbeddedPostgres).connectionString(EMBEDDED_DATABASE);
  return { connectionString, embedded };
};

const connect = async (config: Config, log: Logger): Promise<Connection> => {
  const { eventStoreUrl } = config;
  const { connectionString, embedded } = await openRows(config, log);
  const onLost = (error: Error): void => log.warn('an idle database connection was lost', { error });
  const common = { connectionString, applicationName: APPLICATION_NAME };
  return {
    embedded,
    store: openEventStore(
      { eventStoreUrl, connectionString },
      { applicationName: APPLICATION_NAME, log, onConnectionLost: onLost },
    ),
    pool: createDurablePool({ ...common, maxConnections: CONNECTIONS, onError: onLost }),
  };
};

const disconnect = async ({ store, pool, embedded }: Connection): Promise<void> => {
  await store.close();
  await pool.end();
  await embedded?.release();
};

/**
 * Asks the database, too: an empty one may stand there, or one in which an api, a worker or a projector has made tables.
 * @throws {CliError} not_initialized
 */
export const requirePrepared = async (pool: pg.Pool, config: Config): Promise<void> => {
  try {
    if (await isInitialized(pool)) return;
  } catch (error) {
    if (sqlStateOf(error) !== NO_SUCH_DATABASE) throw error;
  }
  throw notInitialized(config);
};

const requirePreparedAt = async (connectionString: string, config: Config): Promise<void> => {
  // What is lost between statements is told by the next one.
  const onError = (): void => undefined;
  const pool = createDurablePool({ connectionString, applicationName: APPLICATION_NAME, maxConnections: 1, onError });
  await requirePrepared(pool, config).finally(() => pool.end());
};

/**
 * Runs `work` on a deployment that `init` has made, whose database runs meanwhile: also until work that was interrupted ends.
 * @throws {CliError} not_initialized, interrupted
 */
export const onPrepared = <Result>(
  config: Config,
  log: Logger,
  work: (interrupted: AbortSignal) => Promise<Result>,
): Promise<Result> =>
  untilInterrupted(async (interrupted) => {
    await requireInitialized(config);
    const { connectionString, embedded } = await openRows(config, log);
    try {
      await requirePreparedAt(connectionString, config);
      refuseInterruptedStart(interrupted);
      return await work(interrupted);
    } finally {
      await embedded?.release();
    }
  });
