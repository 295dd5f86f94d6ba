import type { Command } from 'commander';
import type { OrgId } from '#libs/domain/kernel';
import { parseConfig, type Config } from '#libs/infra/config';
import { PinoLogger } from '#libs/infra/logging';
import type { Deployment } from '#libs/infra/deployment';
import { Administration, onPrepared, requireInitialized } from './administration.js';
import { CliError, EXIT, type ExitCode } from './cli-error.js';
import { present, type Answer, type Terminal } from './terminal.js';

/** What one run of the program has: where it writes, and how it will end. */
export interface CommandContext {
  readonly terminal: Terminal;
  exitCode: ExitCode;
}

export interface JsonOption {
  readonly json?: true;
}

export interface OrgOption {
  readonly org?: OrgId;
}

export interface ChangeOptions extends JsonOption {
  readonly reason?: string;
}

export const REASON_HELP = 'sealed in the deed: 1 to 280 characters on one line';

const EXIT_CODES_HELP = `
Exit codes:
  0  done, or it is so
  1  what was asked failed, or is not so
  2  the command could not be run: its arguments, the settings, a file, the database, or a fault of ours`;

/** Examples and exit codes under a command's help. */
export const withExamples = (command: Command, ...examples: readonly string[]): Command =>
  command.addHelpText(
    'after',
    ['', 'Examples:', ...examples.map((example) => `  $ ${example}`), EXIT_CODES_HELP].join('\n'),
  );

/** Libraries speak on standard error, and only when something is wrong. */
export const loggerOf = (terminal: Terminal): PinoLogger =>
  new PinoLogger({ level: 'warn', format: 'text', destination: { write: (line) => terminal.err(line) } });

/** Runs `work` on the deployment that the settings name, and lets go of it whatever happens. Null: it has said all. */
export const withAdministration = async (
  { terminal }: CommandContext,
  isJson: boolean,
  work: (administration: Administration) => Promise<Answer | null>,
): Promise<void> => {
  const administration = await Administration.open(parseConfig(), loggerOf(terminal));
  try {
    const answer = await work(administration);
    if (answer !== null) present(terminal, isJson, answer);
  } finally {
    await administration.close();
  }
};

/**
 * The same for what appends to the log. A restored log that goes on before somebody has decided is another log than the one
 * that deeds were published of.
 * @throws {RestoreNotConfirmed}
 */
export const withChange = async (
  context: CommandContext,
  isJson: boolean,
  work: (administration: Administration) => Promise<Answer>,
): Promise<void> => {
  const config = parseConfig();
  await requireInitialized(config);
  await requireConfirmedRestore(config);
  await withAdministration(context, isJson, work);
};

/** @throws {RestoreNotConfirmed} */
export const requireConfirmedRestore = async ({ stateDir }: Config): Promise<void> => {
  const { requireSettledRestore } = await import('#libs/infra/backup');
  await requireSettledRestore(stateDir);
};

/** Runs `work` until it ends by itself or is told to by Ctrl-C or SIGTERM; a second signal ends the process. */
export const untilInterrupted = async <Result>(
  work: (interrupted: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const controller = new AbortController();
  const interrupt = (): void => controller.abort();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, interrupt);
  try {
    return await work(controller.signal);
  } finally {
    for (const signal of signals) process.removeListener(signal, interrupt);
  }
};

/** @throws {CliError} interrupted */
export const refuseInterrupted = (interrupted: AbortSignal): void => {
  if (interrupted.aborted) throw new CliError('interrupted', 'It was interrupted, and left nothing.', EXIT.refused);
};

/** Runs `work` with every part of the deployment: for what the log alone cannot do. Takes longer to load. */
export const withDeployment = async <Result>(
  { terminal }: CommandContext,
  work: (deployment: Deployment) => Promise<Result>,
): Promise<Result> => {
  const config = parseConfig();
  const logger = loggerOf(terminal);
  // Opening it makes every table that is not there.
  return onPrepared(config, logger, async () => {
    const parts = await import('#libs/infra/deployment');
    const deployment = await parts.Deployment.open(config, 'ags cli', logger);
    try {
      return await work(deployment);
    } finally {
      await deployment.close();
    }
  });
};

/** The same for what appends to the log. @throws {RestoreNotConfirmed} */
export const withDeploymentChange = async (
  context: CommandContext,
  work: (deployment: Deployment) => Promise<void>,
): Promise<void> => {
  const config = parseConfig();
  await requireInitialized(config);
  await requireConfirmedRestore(config);
  await withDeployment(context, work);
};
