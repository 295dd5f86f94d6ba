import { type CallOutcome, failedOutcome } from '#libs/domain/connectors';
import { ERROR_CATALOGUE, type ErrorCode } from '#libs/domain/kernel';
import { EgressFailure, NoTlsOffered } from '#libs/infra/egress';

import { outcomeOfFailure } from '../call-outcomes.js';
import { SessionRefused } from './database-session.js';
import { refusedSession } from './sql-fault.js';

/** A server or a role that no statement is sent to. */
export class SessionUnfit extends Error {
  override readonly name = 'SessionUnfit';

  constructor(
    readonly code: Extract<ErrorCode, 'database_role_unsafe' | 'database_not_ready'>,
    readonly fault: string,
  ) {
    super(fault);
  }
}

/** Why no session came up, as an outcome; null for what is no such reason. */
export const outcomeOfNoSession = (error: unknown): CallOutcome | null => {
  if (error instanceof SessionRefused) return refusedSession(error.cause);
  if (error instanceof SessionUnfit) return unfitOutcome(error);
  if (!(error instanceof EgressFailure)) return null;
  if (error.cause instanceof NoTlsOffered) return failedOutcome('connector_unavailable', NO_TLS);
  return outcomeOfFailure(error, true);
};

const NO_TLS = 'The database takes no encrypted connections, and the config asks for them with ssl. Nothing was sent.';

const unfitOutcome = ({ code, fault }: SessionUnfit): CallOutcome =>
  failedOutcome(
    code,
    code === 'database_role_unsafe'
      ? `${fault} No statement is run with such a role, and nothing was sent. Give the connector a plain one: \`npm run ags -- database setup-sql\` prints the SQL.`
      : `${fault} Nothing was sent. The connection test says what is missing, and \`npm run ags -- database setup-sql\` prints the SQL.`,
  );

/** The call was withdrawn between two steps of its transaction, which was rolled back. */
export const withdrawnOutcome = (code: ErrorCode): CallOutcome => ({
  ...failedOutcome(code, `${ERROR_CATALOGUE[code].message} The statement was rolled back, and nothing was applied.`),
  hasSent: true,
});

/** The connection ended, or the time was over, before COMMIT was sent: the server rolls back. */
export const endedBeforeCommit = (isTimeOver: boolean): CallOutcome => ({
  ...failedOutcome(
    isTimeOver ? 'timeout' : 'connector_unavailable',
    isTimeOver
      ? 'The statement took longer than the call may take. Its connection was closed before COMMIT, so nothing was applied.'
      : 'The connection to the database broke before COMMIT, so nothing was applied.',
  ),
  hasSent: true,
});

export const TOO_LARGE: CallOutcome = {
  ...failedOutcome(
    'response_too_large',
    'The database answered with a row that is larger than any result may be. The connection was closed, and nothing was applied.',
  ),
  hasSent: true,
};

export const FATE_UNKNOWN: CallOutcome = {
  ...failedOutcome(
    'timeout',
    'The connection broke while the database was committing, and it could not be asked in time what became of it. The call may have run: read the state before you try again.',
  ),
  status: 'unknown',
  hasSent: true,
};

export const ROLLED_BACK_BY_ITSELF: CallOutcome = {
  ...failedOutcome(
    'upstream_error',
    'The database rolled the transaction back instead of committing it. Nothing was applied.',
  ),
  hasSent: true,
};
