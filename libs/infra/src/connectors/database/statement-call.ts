import type { CallOutcome, ConnectorCall } from '#libs/domain/connectors';
import { type DatabaseConfig, databaseConfigOf } from '#libs/domain/connectors/database';
import { type Clock, type EndSignal, type ErrorCode, ERROR_CATALOGUE } from '#libs/domain/kernel';
import { failedOutcome } from '#libs/domain/connectors';

import type { Redactor } from '../redactor.js';
import { endedBeforeCommit, TOO_LARGE } from './database-outcome.js';
import { builtinTypeName, resultOf } from './database-result.js';
import type { DatabaseSession } from './database-session.js';
import type { CallSessions } from './database-sessions.js';
import { OversizedMessage } from './guarded-stream.js';
import { isPassingState, recordedWords, refusedStatement, sqlStateOfError } from './sql-fault.js';
import { type StatementAnswer, StatementFailed } from './statement-run.js';
import type { ReadyStatement } from './statements.js';

/** What a statement came to, and whether trying again may come to something else. */
export interface EndedStatement {
  readonly outcome: CallOutcome;
  readonly isPassing: boolean;
}

export const ended = (outcome: CallOutcome, isPassing = false): EndedStatement => ({ outcome, isPassing });

export interface StatementCallParts {
  readonly call: ConnectorCall;
  readonly ready: ReadyStatement;
  readonly redactor: Redactor;
  readonly sessions: CallSessions;
  readonly clock: Pick<Clock, 'monotonicMs'>;
  /** Aborted when the time of the call is over. */
  readonly signal: EndSignal;
}

/** One statement in one transaction: what reads and writes have in common. */
export abstract class StatementCall {
  protected readonly config: DatabaseConfig;

  constructor(protected readonly parts: StatementCallParts) {
    this.config = databaseConfigOf(parts.call.connector.config);
  }

  /**
   * Never throws for what the database or the network does once a session is there.
   * @throws {EgressFailure} {SessionRefused} {SessionUnfit} nothing was sent
   */
  async run(): Promise<EndedStatement> {
    const { sessions, signal, call } = this.parts;
    for (;;) {
      const { session, isReused } = await sessions.take(signal);
      const end = (): void => session.destroy();
      signal.addEventListener('abort', end);
      try {
        await this.prepare(session);
        const code = await call.mayStillSend(false);
        if (code !== null) return this.giveBack(session, ended(neverSent(code)));
        const outcome = await this.within(session);
        // A session that waited may have been ended by the server meanwhile: then nothing was sent, and a new one does.
        if (outcome === 'never_begun' && isReused && !signal.aborted) continue;
        return this.giveBack(session, outcome === 'never_begun' ? this.brokenOff(session) : outcome);
      } catch (error) {
        // Whatever it was, COMMIT was not sent: the server rolls back.
        session.destroy();
        throw error;
      } finally {
        signal.removeEventListener('abort', end);
      }
    }
  }

  /** What a session has to show before this statement. Gives the session back where it throws. */
  protected abstract prepare(session: DatabaseSession): Promise<void>;

  /** The whole transaction. `never_begun`: the session ended before anything of it was answered. */
  protected abstract within(session: DatabaseSession): Promise<EndedStatement | 'never_begun'>;

  /** How long one statement of this transaction may take now. */
  protected get statementTimeoutMs(): number {
    const remainingMs = Math.floor(this.parts.call.deadlineMonotonicMs - this.parts.clock.monotonicMs());
    return Math.max(1, Math.min(this.config.statement_timeout_ms, remainingMs));
  }

  protected get applicationName(): string {
    return `ags ${this.parts.call.action}`;
  }

  protected async statement(session: DatabaseSession): Promise<StatementAnswer> {
    const { ready } = this.parts;
    const { max_rows_returned: maxRows, max_result_bytes: maxBytes } = this.config;
    const options = { text: ready.sql, parameters: ready.params, maxRows, maxBytes };
    return ready.read.isRead ? session.read(options) : session.statement(options);
  }

  protected async result(session: DatabaseSession, answer: StatementAnswer): Promise<string> {
    const typeNames = await typeNamesFor(session, answer);
    const { redactor } = this.parts;
    return resultOf(answer, { maxBytes: this.config.max_result_bytes, redactor, typeNames });
  }

  /** What a failure before COMMIT comes to; the transaction is rolled back, by us or by the server. */
  protected async failed(session: DatabaseSession, error: unknown): Promise<EndedStatement> {
    if (!(error instanceof StatementFailed)) throw error;
    const { cause } = error;
    if (cause instanceof OversizedMessage) return ended(TOO_LARGE);
    const sqlstate = sqlStateOfError(cause);
    if (sqlstate === null || session.hasEnded) return this.brokenOff(session);
    const words = recordedWords(cause, sqlstate, this.parts.redactor);
    await this.rollBack(session);
    return ended(refusedStatement(sqlstate, words), isPassingState(sqlstate));
  }

  protected async rollBack(session: DatabaseSession): Promise<void> {
    try {
      await session.script('rollback');
    } catch (error) {
      if (!(error instanceof StatementFailed)) throw error;
      session.destroy();
    }
  }

  protected brokenOff(session: DatabaseSession): EndedStatement {
    session.destroy();
    const isTimeOver = this.parts.signal.aborted;
    return ended(endedBeforeCommit(isTimeOver), !isTimeOver);
  }

  private giveBack(session: DatabaseSession, outcome: EndedStatement): EndedStatement {
    this.parts.sessions.giveBack(session);
    return outcome;
  }
}

const neverSent = (code: ErrorCode): CallOutcome =>
  failedOutcome(code, `${ERROR_CATALOGUE[code].message} Nothing was sent.`);

/** Names of types that are not built in, asked of the server while the transaction still sees them. */
const typeNamesFor = async (
  session: DatabaseSession,
  { columns }: StatementAnswer,
): Promise<ReadonlyMap<number, string>> => {
  const unknown = [...new Set(columns.map(({ typeId }) => typeId))].filter((id) => builtinTypeName(id) === null);
  if (unknown.length === 0) return new Map();
  const [answer] = await session.script(
    `select oid::text, pg_catalog.format_type(oid, null) from pg_catalog.pg_type where oid in (${unknown.join(',')})`,
  );
  return new Map(answer?.rows.map(([id, name]) => [Number(id), name ?? '']));
};
