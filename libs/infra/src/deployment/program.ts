import { BrokenStream, type Logger, UnknownEventType } from '#libs/domain/kernel';
import { BackupError, requireSettledRestore } from '../backup/index.js';
import { PepperMismatch } from '../agents/index.js';
import {
  ConfigError,
  ignoredVariables,
  parseConfig,
  SecretFileError,
  StateDirectoryError,
  type Config,
} from '../config/index.js';
import { ForeignStore, WrongEventStore } from '../event-store/index.js';
import { startFailpoints } from '../failpoints/index.js';
import { PinoLogger } from '../logging/index.js';
import { MetricsListener, ServiceMetrics } from '../metrics/index.js';
import { EmbeddedPostgresError } from '../postgres/index.js';
import { compileSooner, giveBackWhatStartUsed, readBuildFacts } from '../runtime/index.js';
import { UnfitDatabase } from '../schemas/index.js';
import { VaultKeyMismatch } from '../vault/index.js';
import { SealKeyNotProven } from './seal-key-rotation.js';
import { MetricsUnserved, startFault } from './start-fault.js';

/** What had not ended when the time to drain was over. Nothing of it is lost: what was claimed stays in the log. */
export interface Leftovers {
  /** Requests that were cut off without their answer. */
  readonly requests: number;
  /** Executions without an outcome; the sweeper of another process, or of the next start, ends or repeats them. */
  readonly executions: number;
}

export const NOTHING_LEFT: Leftovers = { requests: 0, executions: 0 };

export interface RunningProgram {
  /** Lets work in flight end, then closes everything. */
  stop(): Promise<Leftovers>;
}

/** Their messages say what to do; a stack would only hide it. */
const OPERATOR_ERRORS = [
  BackupError,
  BrokenStream,
  ConfigError,
  EmbeddedPostgresError,
  ForeignStore,
  MetricsUnserved,
  PepperMismatch,
  SealKeyNotProven,
  SecretFileError,
  StateDirectoryError,
  UnfitDatabase,
  UnknownEventType,
  VaultKeyMismatch,
  WrongEventStore,
];

/** What a person at the terminal reads of an error: what to do, or where it came from. */
export const textForOperator = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const saysWhatToDo = OPERATOR_ERRORS.some((type) => error instanceof type);
  return saysWhatToDo ? error.message : (startFault(error) ?? error.stack ?? error.message);
};

/** SIGHUP: its terminal was closed. */
const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Reads the settings, runs a program until it is told to stop, and drains it. Exit code 1 when it could not start. */
export const runProgram = (
  start: (config: Config, logger: Logger, metrics: ServiceMetrics) => Promise<RunningProgram>,
): void => {
  // A full disk, or a terminal that was closed: what is said there is lost, and the service goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const main = async (): Promise<void> => {
    if (process.argv.length > 2) return refuseArguments(process.argv.slice(2));
    const config = parseConfig();
    const format = config.env === 'production' ? 'json' : 'text';
    const logger = new PinoLogger({ level: config.logLevel, format });
    for (const variable of ignoredVariables()) {
      logger.warn('this variable is not a setting and changes nothing; `npm run ags -- config` lists them', {
        variable,
      });
    }
    await requireSettledRestore(config.stateDir);
    if (config.failpoints !== null) startFailpoints(config.failpoints, config.stateDir, logger);
    const metrics = new ServiceMetrics(readBuildFacts());
    const listener = await serveMetrics(metrics, config, logger);
    const started = start(config, logger, metrics);
    let stopping: Promise<void> | null = null;
    for (const signal of STOP_SIGNALS) {
      // A ctrl-C comes twice under npm, which hands on what the terminal has sent already; a stop has its own time limit.
      process.on(signal, () => {
        if (stopping) logger.debug('stopping already', { signal });
        if (listener) listener.readiness = 'draining';
        stopping ??= stopped(started, signal, { config, logger });
      });
    }
    await started;
    // What a start calls is not called again.
    compileSooner();
    void giveBackWhatStartUsed();
    if (listener && stopping === null) listener.readiness = 'ready';
  };
  main().catch((error: unknown) => {
    process.stderr.write(`${textForOperator(error)}\n`);
    process.exit(1);
  });
};

const TAKES_NO_ARGUMENTS =
  'A program of the service takes no arguments: its settings come from the environment, as SERVICE_PORT=9000 does. ' +
  '`npm run ags -- config` lists them all.\n';

const refuseArguments = (given: readonly string[]): void => {
  if (given.length === 1 && (given[0] === '--help' || given[0] === '-h')) {
    process.stdout.write(TAKES_NO_ARGUMENTS);
    return;
  }
  process.stderr.write(`${given.join(' ')}: ${TAKES_NO_ARGUMENTS}`);
  process.exitCode = 2;
};

/** As long as the process is there, its start and its draining included. */
const serveMetrics = async (
  metrics: ServiceMetrics,
  { metricsAddress }: Config,
  logger: Logger,
): Promise<MetricsListener | null> => {
  if (metricsAddress === null) return null;
  try {
    const listener = new MetricsListener(metrics);
    metrics.servedAt = await listener.listen(metricsAddress);
    const { host: address, port } = metrics.servedAt;
    logger.info('metrics are served', { address, port });
    return listener;
  } catch (error) {
    throw new MetricsUnserved(metricsAddress, error);
  }
};

/**
 * What closing may take beyond the time to drain: connections, and an embedded database that stops. Statements are given
 * up in less, so whatever takes longer would not end.
 */
const CLOSING_TIMEOUT_MS = 6_000;

/** A signal during the start waits for it: half a start cannot be stopped cleanly. */
const stopped = async (
  started: Promise<RunningProgram>,
  signal: string,
  { config, logger }: { readonly config: Config; readonly logger: Logger },
): Promise<void> => {
  logger.info('stopping', { signal });
  const startedAt = performance.now();
  const tookMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const program = await started;
    setTimeout(
      () => {
        logger.error('the process did not stop in its time and ends here', { took_ms: tookMs() });
        process.exit(1);
      },
      config.drainDelayMs + config.drainTimeoutMs + CLOSING_TIMEOUT_MS,
    );
    const { requests, executions } = await program.stop();
    const isClean = requests === 0 && executions === 0;
    logger[isClean ? 'info' : 'warn']('stopped', {
      took_ms: tookMs(),
      requests_left: requests,
      executions_left: executions,
    });
    process.exit(0);
  } catch (error) {
    logger.error('the process did not stop cleanly', { error });
    process.exit(1);
  }
};
