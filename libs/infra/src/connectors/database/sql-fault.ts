import { canonicalize, type JsonObject } from '#libs/crypto';
import { type CallOutcome, failedOutcome } from '#libs/domain/connectors';
import type { ErrorCode } from '#libs/domain/kernel';

import type { Redactor } from '../redactor.js';

/** What the server says of a statement or a session that it refuses (PostgreSQL documentation, Error and Notice Message Fields). */
interface ServerWords {
  readonly code?: string;
  readonly severity?: string;
  readonly message: string;
  readonly detail?: string;
  readonly hint?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly column?: string;
  readonly constraint?: string;
  readonly position?: string;
}

/** SQLSTATE: class 28 the credential, 3D000 the database, 53 and 57P the server itself. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

/** The SQLSTATE of what the server said; null for an error that the server did not send. */
export const sqlStateOfError = (error: Error): string | null => {
  const { code, severity } = error as Error & ServerWords;
  return severity !== undefined && code !== undefined && SQLSTATE.test(code) ? code : null;
};

/** Ended by an administrator, by a crash, with its database, or because it was idle. Severities are in the server's language. */
const LAST_WORDS: ReadonlySet<string> = new Set(['57P01', '57P02', '57P04', '57P05', '25P03', '25P04']);

/** Whether the server ends the connection with this error. */
export const isLastWord = (error: Error): boolean => {
  const { severity } = error as Error & ServerWords;
  return severity === 'FATAL' || severity === 'PANIC' || LAST_WORDS.has(sqlStateOfError(error) ?? '');
};

const WORDS_MAX_CHARACTERS = 4_096;
const SHOWN_WORDS = ['message', 'detail', 'hint', 'schema', 'table', 'column', 'constraint', 'position'] as const;

/** `{sqlstate, message, ...}` as the server gave them, redacted, for the result. */
export const recordedWords = (error: Error, sqlstate: string, redactor: Redactor): string => {
  const words: JsonObject = { sqlstate };
  for (const name of SHOWN_WORDS) {
    const word = (error as Error & ServerWords)[name];
    if (typeof word === 'string')
      words[name] = redactor.text(word.toWellFormed()).slice(0, WORDS_MAX_CHARACTERS).toWellFormed();
  }
  return canonicalize(words);
};

/** Serialization failure, deadlock, lock not available, too many connections, shutting down, cannot connect now. */
const PASSING: ReadonlySet<string> = new Set(['40001', '40P01', '55P03', '53300', '57P01', '57P02', '57P03']);

export const isPassingState = (sqlstate: string): boolean => PASSING.has(sqlstate) || sqlstate.startsWith('08');

/** What the server's refusal of a statement comes to: nothing was applied. The whole of its words is in the result. */
export const refusedStatement = (sqlstate: string, result: string): CallOutcome => ({
  ...failedOutcome(...refusalOf(sqlstate)),
  result,
  hasSent: true,
});

const refusalOf = (sqlstate: string): [ErrorCode, string] => {
  if (sqlstate === '57014') {
    return [
      'upstream_error',
      'The database ended the statement because it took longer than statement_timeout_ms allows (SQLSTATE 57014). Nothing was applied.',
    ];
  }
  if (sqlstate === '55P03') {
    return [
      'upstream_error',
      'The statement waited longer for a lock than lock_timeout_ms allows (SQLSTATE 55P03). Nothing was applied.',
    ];
  }
  return [
    'upstream_error',
    `The database refused the statement with SQLSTATE ${sqlstate}, and nothing was applied. Its own words are in the result.`,
  ];
};

/** What the server's refusal of a session comes to. Nothing was sent. */
export const refusedSession = (error: Error): CallOutcome => {
  const sqlstate = sqlStateOfError(error);
  if (sqlstate === null) {
    return failedOutcome(
      'connector_unavailable',
      'No session with the database came up: the connection broke, or what answered speaks no PostgreSQL with SCRAM. Nothing was sent.',
    );
  }
  if (sqlstate.startsWith('28')) {
    return failedOutcome(
      'upstream_auth_failed',
      `The database refused the connector's credentials (SQLSTATE ${sqlstate}), and nothing was sent. An admin can store new ones with PUT /v1/connectors/{id}/credentials.`,
    );
  }
  if (sqlstate === '3D000') {
    return failedOutcome(
      'upstream_not_found',
      'The server has no database of the name in the config (SQLSTATE 3D000), and nothing was sent.',
    );
  }
  return failedOutcome(
    'connector_unavailable',
    `The database takes no session now (SQLSTATE ${sqlstate}), and nothing was sent. Try again later.`,
  );
};
