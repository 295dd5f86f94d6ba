import { actionMark, xidInLog } from '#libs/crypto';
import {
  type CallOutcome,
  type CommittedTransaction,
  failedOutcome,
  type StatementSaid,
  type TableCounts,
  type Vault,
} from '#libs/domain/connectors';
import { publicationOf } from '#libs/domain/connectors/database';
import { failpoint } from '#libs/domain/kernel';

import { changedBetween, countedTables, saidTables, whyNoTable, whyTooMuch, withTruncated } from './changed-rows.js';
import { ROLLED_BACK_BY_ITSELF, withdrawnOutcome } from './database-outcome.js';
import { rowCountOf } from './database-result.js';
import type { DatabaseSession } from './database-session.js';
import { recordedWords, refusedStatement, sqlStateOfError } from './sql-fault.js';
import { ended, type EndedStatement, StatementCall, type StatementCallParts } from './statement-call.js';
import { type StatementAnswer, StatementFailed } from './statement-run.js';
import { fateOfTransaction } from './transaction-fate.js';
import { AFTER_STATEMENT, COMMIT, markAndBaseline, writeOpening } from './transaction-script.js';

/** A statement that ran in its transaction, which is still open. */
interface RanStatement {
  readonly said: StatementSaid;
  readonly rows: number | null;
  readonly counts: readonly TableCounts[];
  readonly result: string;
}

/**
 * A statement that changes rows. Before it runs, what it may change is on record under the id of its transaction; what it
 * did change is counted before COMMIT; and what became of a COMMIT whose answer was lost is asked of the database.
 */
export class WriteCall extends StatementCall {
  /** Null where nobody reads the change log. */
  private markKey: Uint8Array | null = null;

  constructor(
    parts: StatementCallParts,
    private readonly vault: Pick<Vault, 'markKeyOf'>,
  ) {
    super(parts);
  }

  protected override async prepare(session: DatabaseSession): Promise<void> {
    if (!this.config.witness.enabled) return;
    await this.parts.sessions.requireWitness(session);
    const { org, connector } = this.parts.call;
    this.markKey = await this.vault.markKeyOf({ org, object: connector.id });
  }

  protected override async within(session: DatabaseSession): Promise<EndedStatement | 'never_begun'> {
    const said = await this.begin(session);
    if (said === null) return 'never_begun';
    if ('outcome' in said) return said;
    try {
      const ran = await this.ran(session, said);
      if ('outcome' in ran) return ran;
      await failpoint('exec.mid_send');
      const code = await this.parts.call.mayStillSend(true);
      if (code !== null) return await this.undone(session, withdrawnOutcome(code));
      return await this.commit(session, ran);
    } catch (error) {
      return this.failed(session, error);
    }
  }

  /** Null where the session ended before anything was answered. */
  private async begin(session: DatabaseSession): Promise<StatementSaid | EndedStatement | null> {
    const { config, statementTimeoutMs, applicationName } = this;
    const { writes, facts } = this.parts.ready.read;
    const tables = writes.map(({ table }) => table);
    try {
      const publication = config.witness.enabled ? publicationOf(config, this.parts.call.connector.id) : null;
      const keepsId = this.parts.sessions.keepsIds(session);
      const terms = { config, statementTimeoutMs, applicationName, keepsId };
      const opening = writeOpening(terms, tables, publication);
      const [id, roots] = (await session.script(opening)).slice(-2);
      const xid = id?.rows[0]?.[0] ?? '';
      const noTable = whyNoTable(roots ?? NONE);
      if (noTable !== null) {
        return await this.undone(session, { ...failedOutcome('statement_refused', noTable), hasSent: true });
      }
      const named = saidTables(writes, roots ?? NONE);
      return { xid, kind: facts.kind, tables: named, side_effect_tables: [...config.side_effect_tables].sort() };
    } catch (error) {
      if (error instanceof StatementFailed && session.hasEnded) return null;
      return this.failed(session, error);
    }
  }

  private async ran(session: DatabaseSession, said: StatementSaid): Promise<RanStatement | EndedStatement> {
    const unrecorded = await this.parts.call.recordProgress(said);
    if (unrecorded !== null) return this.undone(session, withdrawnOutcome(unrecorded));
    const before = countedTables((await session.script(markAndBaseline(this.mark(said)))).at(-1) ?? NONE);
    const answer = await this.statement(session);
    const after = countedTables((await session.script(AFTER_STATEMENT)).at(-1) ?? NONE);
    const changed = changedBetween(before, after);
    const tooMuch = whyTooMuch(changed, said.tables, this.config);
    if (tooMuch !== null) {
      return this.undone(session, { ...failedOutcome('row_limit_exceeded', tooMuch), hasSent: true });
    }
    const result = await this.result(session, answer);
    return { said, rows: rowCountOf(answer.tag), counts: withTruncated(changed, said.tables), result };
  }

  private mark({ xid }: StatementSaid): string | null {
    if (this.markKey === null) return null;
    const { action, attempt } = this.parts.call;
    return actionMark(this.markKey, { action, attempt, xid: xidInLog(xid) });
  }

  private async undone(session: DatabaseSession, outcome: CallOutcome): Promise<EndedStatement> {
    await this.rollBack(session);
    return ended(outcome);
  }

  private async commit(session: DatabaseSession, ran: RanStatement): Promise<EndedStatement> {
    try {
      const committing = session.script(COMMIT);
      committing.catch(() => undefined);
      await failpoint('exec.sent');
      const [committed, log] = await committing;
      await failpoint('exec.answered');
      if (committed?.tag !== 'COMMIT') return ended(ROLLED_BACK_BY_ITSELF);
      return ended(succeeded(ran, log?.rows[0]?.[0] ?? null));
    } catch (error) {
      const refused = this.refusedCommit(error);
      if (refused !== null) return this.undone(session, refused);
      session.destroy();
      return ended(await this.fate(ran));
    }
  }

  /**
   * Not null where the database said that it did not commit. What ends the session says nothing of it: an administrator may
   * end one that has committed and waits for its standby.
   */
  private refusedCommit(error: unknown): CallOutcome | null {
    if (!(error instanceof StatementFailed) || error.answers.length > 0) return null;
    const sqlstate = sqlStateOfError(error.cause);
    const isOrdinary = (error.cause as Error & { readonly severity?: string }).severity === 'ERROR';
    if (sqlstate === null || !isOrdinary) return null;
    return refusedStatement(sqlstate, recordedWords(error.cause, sqlstate, this.parts.redactor));
  }

  private async fate(ran: RanStatement): Promise<CallOutcome> {
    const { call, clock, sessions } = this.parts;
    const fate = await fateOfTransaction(ran.said.xid, (signal) => sessions.fresh(signal), {
      clock,
      deadlineMonotonicMs: call.deadlineMonotonicMs,
    });
    return fate.kind === 'committed' ? succeeded(ran, fate.lsn) : fate.outcome;
  }
}

const NONE: Pick<StatementAnswer, 'rows'> = { rows: [] };

/** The end of every log, which no decoder passes: then nothing but the mark itself says what became of the transaction. */
const UNKNOWN_LSN = 'FFFFFFFF/FFFFFFFF';

const succeeded = ({ said, rows, counts, result }: RanStatement, lsn: string | null): CallOutcome => {
  const transaction: CommittedTransaction = { xid: said.xid, commit_lsn: lsn ?? UNKNOWN_LSN, rows, counts };
  const none = { errorCode: null, errorMessage: null, retryAfterMs: null };
  return { status: 'succeeded', ...none, result, hasSent: true, transaction };
};
