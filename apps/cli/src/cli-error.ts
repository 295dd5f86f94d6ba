import { BrokenStream, DomainError, type Position, StoreUnavailable } from '#libs/domain/kernel';
import { visible } from '#libs/evidence';
import { ConfigError, fileFaultOf, isFullDisk, SecretFileError, StateDirectoryError } from '#libs/infra/config';
import { adviceOnRefusedWrite, EmbeddedPostgresError, isDatabaseUnusable } from '#libs/infra/postgres';

/** The whole vocabulary: scripts branch on it. */
export const EXIT = {
  /** Done, or it is so. */
  fine: 0,
  /** What was asked failed, or is not so. */
  refused: 1,
  /** The command could not be run: how it was called, settings, files, the database, or a fault of ours. */
  unusable: 2,
  /** `doctor`, `policies`, `connectors` and `database`: the service did not take the API key (rule OPS-4). */
  keyRefused: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Codes of the command line itself; codes of the API's catalogue (`conflict`, `not_found`) appear beside them. */
export type CliErrorCode =
  | 'usage'
  | 'settings_invalid'
  | 'not_initialized'
  | 'file_unusable'
  | 'bundle_not_intact'
  | 'database_unavailable'
  | 'event_store_unusable'
  | 'secrets_unusable'
  | 'interrupted'
  | 'log_incomplete'
  | 'external_database'
  | 'backup_unusable'
  | 'restore_behind'
  | 'restore_unconfirmed'
  | 'rebuild_failed'
  | 'verification_failed'
  | 'seal_key_not_proven'
  | 'key_refused'
  | 'service_unusable'
  | 'internal_error';

/** One calm sentence that says what to do next, as standard error and `--json` give it. */
export interface Explanation {
  readonly code: string;
  readonly message: string;
  readonly exitCode: ExitCode;
}

/** An error that a command words itself. */
export class CliError extends Error {
  override readonly name = 'CliError';
  constructor(
    readonly code: CliErrorCode | 'not_found' | 'conflict',
    message: string,
    readonly exitCode: ExitCode = EXIT.unusable,
  ) {
    super(message);
  }
}

export const usage = (message: string): CliError => new CliError('usage', message);
export const notFound = (message: string): CliError => new CliError('not_found', message, EXIT.refused);
/** @param consequence a sentence of what that means for what was asked */
export const logIncomplete = (missing: Position | number, consequence?: string): CliError => {
  const sentences = [
    `The log has no event at position ${missing}, though it goes on.`,
    ...(consequence === undefined ? [] : [consequence]),
    'Run `npm run ags -- audit`.',
  ];
  return new CliError('log_incomplete', sentences.join(' '), EXIT.refused);
};

/** Errors of parts that are loaded only when needed, by name: their messages say what to do. */
const OPERATOR_ERRORS: Readonly<Record<string, Omit<Explanation, 'message'>>> = {
  UnfitDatabase: { code: 'database_unavailable', exitCode: EXIT.unusable },
  UnknownEventType: { code: 'event_store_unusable', exitCode: EXIT.unusable },
  UnknownPosition: { code: 'usage', exitCode: EXIT.unusable },
  ForeignStore: { code: 'event_store_unusable', exitCode: EXIT.refused },
  LedgerInconsistent: { code: 'ledger_inconsistent', exitCode: EXIT.refused },
  AlteredDeed: { code: 'ledger_inconsistent', exitCode: EXIT.refused },
  LogsDiffer: { code: 'event_store_unusable', exitCode: EXIT.refused },
  SourceWentOn: { code: 'conflict', exitCode: EXIT.refused },
  WrongEventStore: { code: 'event_store_unusable', exitCode: EXIT.unusable },
  BackupError: { code: 'backup_unusable', exitCode: EXIT.refused },
  RestoreNotConfirmed: { code: 'restore_unconfirmed', exitCode: EXIT.refused },
  PepperMismatch: { code: 'secrets_unusable', exitCode: EXIT.unusable },
  VaultKeyMismatch: { code: 'secrets_unusable', exitCode: EXIT.unusable },
  SealKeyNotProven: { code: 'seal_key_not_proven', exitCode: EXIT.refused },
};

/** What to tell about an error. Null for one nobody foresaw: a fault of ours, which deserves its stack. */
export const explain = (error: unknown): Explanation | null => {
  if (error instanceof CliError) return { code: error.code, message: error.message, exitCode: error.exitCode };
  if (error instanceof DomainError) return explainDomainError(error);
  if (error instanceof ConfigError) {
    return { code: 'settings_invalid', message: error.message, exitCode: EXIT.unusable };
  }
  if (error instanceof SecretFileError) {
    return { code: 'secrets_unusable', message: error.message, exitCode: EXIT.unusable };
  }
  if (error instanceof StateDirectoryError) {
    return { code: 'file_unusable', message: error.message, exitCode: EXIT.unusable };
  }
  if (error instanceof BrokenStream) {
    return { code: 'event_store_unusable', message: `${error.message}.`, exitCode: EXIT.unusable };
  }
  if (!(error instanceof Error)) return null;
  const known = OPERATOR_ERRORS[error.name];
  if (known) return { ...known, message: error.message };
  return explainFileError(error) ?? explainEventStoreError(error) ?? explainDatabaseError(error);
};

/** A refused value is a matter of how the command was called. */
const explainDomainError = ({ code, message, status }: DomainError): Explanation => {
  const isRefused = code !== 'validation_failed' && status < 500;
  return { code, message, exitCode: isRefused ? EXIT.refused : EXIT.unusable };
};

const FREE_SPACE = 'Free some space on that disk and try again; `npm run ags -- doctor` says how much there is.';

/** What the file system said, as a sentence about `path`. Null for any other error. */
export const explainFileError = (error: Error, path?: string): Explanation | null => {
  if (!('syscall' in error) || !('code' in error)) return null;
  const code = String(error.code);
  const why = fileFaultOf(code);
  // Of an open file Node names no path. What fills a disk is the same wherever it lies on it.
  const place = path ?? ('path' in error ? String(error.path) : isFullDisk(code) ? 'A file of this program' : null);
  if (why === undefined || place === null) return null;
  const advice = isFullDisk(code) ? FREE_SPACE : 'Check the path and try again.';
  return {
    code: 'file_unusable',
    message: `${visible(place)} cannot be used: ${why}. ${advice}`,
    exitCode: EXIT.unusable,
  };
};

/**
 * @param option that gave the place of a log
 * @throws {CliError} where the log cannot be used: it names the option
 * @throws whatever else the work throws
 */
export const blaming = async <Result>(option: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    const known =
      error instanceof Error ? (explainEventStoreError(error, option) ?? explainDatabaseError(error, option)) : null;
    if (known === null) throw error;
    throw new CliError(known.code, known.message, known.exitCode);
  }
};

type StoreExplanation = Explanation & { readonly code: CliErrorCode };

/**
 * Told by its setting: the class is loaded only with the store.
 * @param option that gave the place, rather than the setting
 */
const explainEventStoreError = (error: Error, option?: string): StoreExplanation | null => {
  if (!(error instanceof StoreUnavailable) || !('setting' in error)) return null;
  const advice =
    option === undefined && 'next' in error
      ? String(error.next)
      : `Check ${option ?? String(error.setting)} and that it runs, then try again.`;
  const message = `The event store cannot be used: ${error.message}. ${advice}`;
  return { code: 'event_store_unusable', message, exitCode: EXIT.unusable };
};

/** @param option as in {@link explainEventStoreError} */
const explainDatabaseError = (error: Error, option?: string): StoreExplanation | null => {
  const code = 'database_unavailable';
  const exitCode = EXIT.unusable;
  if (error instanceof EmbeddedPostgresError) return { code, message: error.message, exitCode };
  const cause = error instanceof StoreUnavailable && error.cause instanceof Error ? error.cause : error;
  if (!(error instanceof StoreUnavailable) && !isDatabaseUnusable(cause)) return null;
  // Node's and PostgreSQL's words name the host, the port and the login, and hold no password.
  const said = cause === error && error instanceof StoreUnavailable ? '' : ` It said: ${cause.message}.`;
  const advice = adviceOnRefusedWrite(cause);
  const message =
    advice === null
      ? `The database cannot be used.${said} Check ${option ?? 'DATABASE_URL'} and that it runs, then try again.`
      : `The database takes no writes.${said} ${advice}, then try again.`;
  return { code, message, exitCode };
};
