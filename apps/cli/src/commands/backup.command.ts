import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { timestampOf } from '#libs/domain/kernel';
import { parseConfig, type Config } from '#libs/infra/config';
import type { LedgerHead } from '#libs/infra/backup';
import { untilInterrupted } from '#libs/infra/runtime';
import { onPrepared } from '../administration.js';
import { fileArgument } from '../arguments.js';
import { CliError } from '../cli-error.js';
import { loggerOf, withExamples, type CommandContext, type JsonOption } from '../command-context.js';
import { refuseInterrupted } from '../interruption.js';
import { registerConfirmRestore } from './confirm-restore.command.js';
import { writeNewFile } from '../new-file.js';
import { facts, present, ProgressLine } from '../terminal.js';

interface BackupOptions extends JsonOption {
  readonly output?: string;
}

/** `ags backup`, `ags restore`, `ags confirm-restore`: an embedded deployment as one file, and back. */
export const registerBackupCommands = (program: Command, context: CommandContext, version: string): void => {
  registerBackup(program, context, version);
  registerRestore(program, context);
  registerConfirmRestore(program, context);
};

const registerBackup = (program: Command, context: CommandContext, version: string): void => {
  withExamples(
    program
      .command('backup')
      .description(
        'Writes an embedded deployment into one file: the database as it is when the command ends, and the key files, so ' +
          'keep it as you keep those. The service may run on meanwhile. The file has mode 0600 and appears when it is ' +
          'complete. With DATABASE_URL, use the means of your PostgreSQL, and keep the key files beside its backup.',
      )
      .summary('write the database and the keys into one file')
      .option(
        '--output <path>',
        'a new file, or a folder for one that is named by the time; default: here',
        outputArgument,
      )
      .option('--json', 'one JSON object')
      .action(async ({ output, json }: BackupOptions) => {
        const config = embeddedOnly('back up');
        const answer = await onPrepared(config, loggerOf(context.terminal), (interrupted) =>
          backUp(context, config, { output, version, interrupted }),
        );
        present(context.terminal, json === true, answer);
      }),
    'npm run ags -- backup',
    'npm run --silent ags -- backup --output /backups --json',
  );
};

/** A name that ends with a slash is a folder's: `resolve` would take that from it. */
const outputArgument = (text: string): string => `${fileArgument(text)}${text.endsWith('/') ? '/' : ''}`;

const backUp = async (
  { terminal }: CommandContext,
  config: Config,
  {
    output = fileArgument('.'),
    version,
    interrupted,
  }: { output: string | undefined; version: string; interrupted: AbortSignal },
) => {
  const { withBackup } = await import('#libs/infra/backup');
  const createdAt = timestampOf(Date.now());
  const isThere = await isFolder(output);
  if (!isThere && output.endsWith('/')) {
    throw new CliError('file_unusable', `${output} is no folder. Make it first, or mount what belongs there.`);
  }
  const path = isThere ? join(output, `ags-backup-${createdAt.replace(/[-:]|\.\d+/g, '')}.tar.gz`) : output;
  const progress = new ProgressLine(terminal);
  const options = {
    version,
    createdAt,
    log: loggerOf(terminal),
    onProgress: (bytes: number) => progress.show(`Read ${megabytes(bytes)}`),
    mayGoOn: () => refuseInterrupted(interrupted),
  };
  const { head, ledgers } = await withBackup(config, options, async ({ manifest, content }) => {
    await writeNewFile(path, content);
    return manifest;
  });
  progress.clear();
  const { size: bytes } = await stat(path);
  const view = { object: 'backup', file: path, bytes, created_at: createdAt, version, head, ledgers };
  const text =
    `Wrote ${path} (${megabytes(bytes)}, mode 0600).\n\n` +
    'It holds the database, its password, the pepper and the vault key: whoever reads it reads every credential.';
  return { objects: [view], text };
};

const registerRestore = (program: Command, context: CommandContext): void => {
  withExamples(
    program
      .command('restore')
      .description(
        'Makes a deployment out of a backup, in a state directory that is empty or not there yet. The file is read whole ' +
          'and its checksum compared before anything is put in place. What was recorded after the backup is not in it: ' +
          'nothing is sealed until you have run confirm-restore.',
      )
      .summary('make a deployment out of a backup')
      .argument('<file>', 'what backup has written', fileArgument)
      .option('--json', 'one JSON object')
      .action(async (file: string, { json }: JsonOption) => {
        const config = embeddedOnly('restore');
        const answer = await untilInterrupted((interrupted) => restore(context, config, file, interrupted));
        present(context.terminal, json === true, answer);
      }),
    'SERVICE_STATE_DIR=/var/lib/ags npm run ags -- restore /backups/ags-backup-20261001T030000Z.tar.gz',
  );
};

const restore = async ({ terminal }: CommandContext, { stateDir }: Config, file: string, interrupted: AbortSignal) => {
  const { restoreBackup } = await import('#libs/infra/backup');
  const progress = new ProgressLine(terminal);
  const { manifest, head, ledgers } = await restoreBackup({
    file,
    stateDir,
    restoredAt: timestampOf(Date.now()),
    log: loggerOf(terminal),
    onProgress: (bytes) => progress.show(`Read ${megabytes(bytes)}`),
    mayGoOn: () => refuseInterrupted(interrupted),
  });
  progress.clear();
  const { created_at: createdAt } = manifest;
  const view = { object: 'restore', state_dir: stateDir, created_at: createdAt, head, ledgers };
  const text = [
    `${stateDir} holds the deployment as it was at ${createdAt}.`,
    '',
    facts(headFacts(ledgers)),
    '',
    'Deeds that were sealed later are not there. Compare these heads with the last that you know (a bundle, a ledger',
    'check, a head noted elsewhere). Nothing is sealed before you have run, with the state directory that was in use:',
    '',
    '  npm run ags -- confirm-restore --heads OLD_STATE_DIR/sealed-heads',
    '',
    'Without that file or another head (`--head`) nothing is compared, and you declare that nothing was published since.',
  ].join('\n');
  return { objects: [view], text };
};

const headFacts = (ledgers: readonly LedgerHead[]): [string, string][] =>
  ledgers.map(({ org, seq, body_hash: hash }) => [`head of ${org}`, `${seq}:${hash}`]);

/** @throws {CliError} external_database */
const embeddedOnly = (what: string): Config => {
  const config = parseConfig();
  if (config.eventStoreUrl !== null) {
    throw new CliError(
      'external_database',
      `The log is the one that EVENT_STORE_URL names, which this command cannot ${what}. Use the server's own means: the ` +
        'log first, then PostgreSQL, and the key files beside their backups. docs/deployment.md has the commands.',
    );
  }
  if (config.databaseUrl === null) return config;
  throw new CliError(
    'external_database',
    `The database is the one that DATABASE_URL names, which this command cannot ${what}. Use its own means ` +
      '(pg_basebackup, pg_dump), and keep the key files beside its backups.',
  );
};

const isFolder = async (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`;
