import type { Command } from 'commander';
import { REASON_MAX_CHARACTERS, type OrgId } from '#libs/domain/kernel';
import { parseConfig, type Config } from '#libs/infra/config';
import { PinoLogger } from '#libs/infra/logging';
import type { Deployment } from '#libs/infra/deployment';
import { untilInterrupted } from '#libs/infra/runtime';
import { Administration, onPrepared, requireInitialized } from './administration.js';
import type { ExitCode } from './cli-error.js';
import { refuseInterruptedStart } from './interruption.js';
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

export const REASON_HELP = `sealed in the deed: 1 to ${REASON_MAX_CHARACTERS} characters on one line`;

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

/**
 * Runs `work` on the deployment that the settings name, and lets go of it whatever happens, an interruption included: work
 * that takes a while looks at its signal. Null: it has said all.
 */
export const withAdministration = (
  { terminal }: CommandContext,
  isJson: boolean,
  work: (administration: Administration, interrupted: AbortSignal) => Promise<Answer | null>,
): Promise<void> =>
  untilInterrupted(async (interrupted) => {
    const administration = await Administration.open(parseConfig(), loggerOf(terminal));
    try {
      refuseInterruptedStart(interrupted);
      const answer = await work(administration, interrupted);
      if (answer !== null) present(terminal, isJson, answer);
    } finally {
      await administration.close();
    }
  });

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

/** Runs `work` with every part of the deployment: for what the log alone cannot do. Takes longer to load. */
export const withDeployment = async <Result>(
  { terminal }: CommandContext,
  work: (deployment: Deployment, interrupted: AbortSignal) => Promise<Result>,
): Promise<Result> => {
  const config = parseConfig();
  const logger = loggerOf(terminal);
  // Opening it makes every table that is not there.
  return onPrepared(config, logger, async (interrupted) => {
    const parts = await import('#libs/infra/deployment');
    const deployment = await parts.Deployment.open(config, 'ags cli', logger);
    try {
      refuseInterruptedStart(interrupted);
      return await work(deployment, interrupted);
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
