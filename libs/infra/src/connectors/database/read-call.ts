import type { DatabaseSession } from './database-session.js';
import { ended, type EndedStatement, StatementCall } from './statement-call.js';
import { StatementFailed } from './statement-run.js';
import { readOpening } from './transaction-script.js';

/** A statement that reads, in a transaction that is READ ONLY: whatever a function in it does, nothing is written. */
export class ReadCall extends StatementCall {
  protected override prepare(): Promise<void> {
    return Promise.resolve();
  }

  protected override async within(session: DatabaseSession): Promise<EndedStatement | 'never_begun'> {
    const { config, statementTimeoutMs, applicationName } = this;
    try {
      await session.script(readOpening({ config, statementTimeoutMs, applicationName }));
    } catch (error) {
      if (error instanceof StatementFailed && session.hasEnded) return 'never_begun';
      return this.failed(session, error);
    }
    try {
      const answer = await this.statement(session);
      const result = await this.result(session, answer);
      await this.rollBack(session);
      const none = { errorCode: null, errorMessage: null, retryAfterMs: null };
      return ended({ status: 'succeeded', ...none, result, hasSent: true });
    } catch (error) {
      return this.failed(session, error);
    }
  }
}
