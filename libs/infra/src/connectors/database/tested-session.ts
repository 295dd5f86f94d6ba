import type { TestedConnector, Vault } from '#libs/domain/connectors';
import type { Clock, EndSignal } from '#libs/domain/kernel';
import { certificateFault, type EgressDoor, EgressFailure, NoTlsOffered } from '#libs/infra/egress';

import { deadlineAfter } from '../call-deadline.js';
import { type DatabaseRole, openAddress } from './database-credential.js';
import { DatabaseSession, SessionRefused } from './database-session.js';
import { type Session, SessionFailed, type SessionFault } from './readiness/index.js';
import { sqlStateOfError } from './sql-fault.js';
import { StatementFailed } from './statement-run.js';

interface SessionParts {
  readonly door: EgressDoor;
  readonly vault: Pick<Vault, 'open'>;
  readonly clock: Pick<Clock, 'monotonicMs'>;
}

/**
 * Opens a session for a connection test, with one of the connector's two roles.
 * @throws {SessionFailed}
 */
export const openTestedSession = async (
  parts: SessionParts,
  { connector, deadlineMonotonicMs, mayStillSend }: TestedConnector,
  role: DatabaseRole,
): Promise<Session> => {
  const address = await openAddress(parts.vault, connector, role);
  if (address === null) throw new SessionFailed('credentials_missing');
  if ((await mayStillSend()) !== null) throw new SessionFailed('held');
  const { signal, clear } = deadlineAfter(deadlineMonotonicMs - parts.clock.monotonicMs());
  try {
    return sessionOver(await DatabaseSession.open(parts.door, address, signal), signal, clear);
  } catch (error) {
    clear();
    throw failureOf(error, signal.aborted);
  }
};

const sessionOver = (session: DatabaseSession, signal: EndSignal, clear: () => void): Session => {
  const end = (): void => session.destroy();
  signal.addEventListener('abort', end);
  return {
    query: async (text, params = []) => {
      const answer = await session
        .run({ text, parameters: params, maxRows: 10_000, maxBytes: 4_194_304 })
        .catch((error: unknown) => {
          throw failedQuestion(error, signal.aborted);
        });
      const { columns = [], rows = [] } = answer[0] ?? {};
      const named = (row: readonly (string | null)[]): Record<string, unknown> =>
        Object.fromEntries(columns.map(({ name }, index) => [name, row[index] ?? null]));
      return { rows: rows.map(named) };
    },
    close: () => {
      signal.removeEventListener('abort', end);
      clear();
      session.destroy();
      return Promise.resolve();
    },
  };
};

/** What the server said of a question is for the check to judge; that no answer came is not. */
const failedQuestion = (error: unknown, isTimeOver: boolean): unknown => {
  if (!(error instanceof StatementFailed)) return error;
  if (sqlStateOfError(error.cause) !== null) return error.cause;
  return new SessionFailed(isTimeOver ? 'timeout' : 'failed');
};

const failureOf = (error: unknown, isTimeOver: boolean): unknown => {
  if (error instanceof SessionRefused) {
    const sqlstate = sqlStateOfError(error.cause);
    return new SessionFailed(isTimeOver ? 'timeout' : refusalOf(sqlstate));
  }
  if (!(error instanceof EgressFailure)) return error;
  if (error.cause instanceof NoTlsOffered) return new SessionFailed('no_tls');
  if (error.reason === 'untrusted') return new SessionFailed('untrusted', certificateFault(error.cause));
  const reason: SessionFault = error.reason === 'blocked' || error.reason === 'timeout' ? error.reason : 'unreachable';
  return new SessionFailed(reason);
};

const refusalOf = (sqlstate: string | null): SessionFault => {
  if (sqlstate === null) return 'failed';
  if (sqlstate.startsWith('28')) return 'auth_failed';
  if (sqlstate === '3D000' || sqlstate === '42501') return 'no_database';
  return sqlstate.startsWith('53') ? 'too_many_connections' : 'failed';
};
