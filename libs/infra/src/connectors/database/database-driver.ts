import type { JsonObject } from '#libs/crypto';
import {
  type ArgumentFault,
  type CallOutcome,
  type ChangeJudgement,
  type ConnectorCheck,
  type ConnectorCall,
  ConnectorDriver,
  failedOutcome,
  type LiveConnector,
  type LoggedTransaction,
  type LostCall,
  partsOfTable,
  type RequestFacts,
  type RequestPreview,
  type SideEffect,
  retryDelayMs,
  type ToolDescription,
} from '#libs/domain/connectors';
import { databaseConfigOf, judgeChange, publicationOf, slotOf } from '#libs/domain/connectors/database';
import { DomainError, failpoint } from '#libs/domain/kernel';

import { deadlineAfter } from '../call-deadline.js';
import type { DriverTools } from '../driver-tools.js';
import { Redactor } from '../redactor.js';
import { DatabaseSessions } from './database-sessions.js';
import { FATE_UNKNOWN, outcomeOfNoSession } from './database-outcome.js';
import { ReadCall } from './read-call.js';
import { databaseChecks, type ReadinessTerms } from './readiness/index.js';
import { ended, type EndedStatement } from './statement-call.js';
import { Statements, type ReadyStatement, type Unready } from './statements.js';
import { openTestedSession } from './tested-session.js';
import { fateOfTransaction } from './transaction-fate.js';
import { WriteCall } from './write-call.js';

const TOOL_GONE = 'The connector no longer has this tool, and nothing was sent.';
const MISSING_CREDENTIALS =
  'The connector has no credentials of kind database, and nothing was sent. An admin can store them with PUT /v1/connectors/{id}/credentials.';

/** Runs the tools of connectors of type `database` (docs/connectors-database.md). */
export class DatabaseDriver extends ConnectorDriver {
  override readonly type = 'database';
  private readonly statements: Statements;
  private readonly sessions: DatabaseSessions;

  constructor(private readonly tools: DriverTools) {
    super();
    this.statements = new Statements(tools.sql);
    this.sessions = new DatabaseSessions(tools);
  }

  override toolOf(connector: LiveConnector, toolName: string): ToolDescription | null {
    return this.toolsOf(connector).find(({ name }) => name === toolName) ?? null;
  }

  override toolsOf(connector: LiveConnector): readonly ToolDescription[] {
    return this.statements.toolsOf(connector);
  }

  override configFault(config: JsonObject): ArgumentFault | null {
    return this.statements.faultOfTools(config);
  }

  override requestFacts(connector: LiveConnector, toolName: string, args: JsonObject): RequestFacts {
    const ready = this.statements.ready(connector, toolName, args);
    return 'read' in ready ? { sql: ready.read.facts } : {};
  }

  override previewOf(connector: LiveConnector, toolName: string, args: JsonObject): RequestPreview {
    const ready = this.statements.ready(connector, toolName, args);
    if (!('read' in ready)) return { request: null, fault: unreadyOutcome(ready).errorMessage };
    return { request: { sql: ready.sql, params: ready.params }, fault: null };
  }

  override sideEffectOf(connector: LiveConnector, toolName: string, args: JsonObject): SideEffect {
    return this.statements.sideEffectOf(connector, toolName, args) ?? super.sideEffectOf(connector, toolName, args);
  }

  override async send(call: ConnectorCall): Promise<CallOutcome> {
    const ready = this.statements.ready(call.connector, call.toolName, call.args);
    if (!('read' in ready)) return unreadyOutcome(ready);
    await failpoint('exec.claimed');
    const outcome = await this.sendReady(call, ready);
    return ready.read.isRead ? this.withRetry(call, outcome) : outcome.outcome;
  }

  override async outcomeOfLost(lost: LostCall): Promise<CallOutcome | null> {
    const opened = await this.sessions.open(lost.connector).catch(nullIfVaultIsUnavailable);
    if (opened === null) return FATE_UNKNOWN;
    const terms = { clock: this.tools.clock, deadlineMonotonicMs: lost.deadlineMonotonicMs };
    const fate = await fateOfTransaction(lost.said.xid, (signal) => opened.fresh(signal), terms);
    return fate.kind === 'committed' ? committedLongAgo(lost, fate.lsn) : fate.outcome;
  }

  override judgeChange(
    { config }: LiveConnector,
    toolName: string,
    args: JsonObject,
    logged: LoggedTransaction,
  ): ChangeJudgement {
    const tool = databaseConfigOf(config).tools.find(({ name }) => name === toolName);
    return tool === undefined ? 'none' : judgeChange(tool, args, logged);
  }

  override checks(): readonly ConnectorCheck[] {
    return databaseChecks({
      termsOf: ({ connector }) => this.readinessTerms(connector),
      openAgent: (tested) => openTestedSession(this.tools, tested, 'agent'),
      openWitness: (tested) => openTestedSession(this.tools, tested, 'witness'),
    });
  }

  private readinessTerms(connector: LiveConnector): ReadinessTerms {
    const config = databaseConfigOf(connector.config);
    const { id } = connector;
    const named = [...this.statements.tablesOf(connector), ...config.side_effect_tables];
    return {
      database: config.database,
      ssl: config.ssl,
      schemas: config.schemas,
      witness: config.witness.enabled ? { slot: slotOf(config, id), publication: publicationOf(config, id) } : null,
      namedTables: [...new Set(named)].flatMap((table) => {
        const parts = partsOfTable(table);
        return parts === null ? [] : [{ schema: parts.schema, name: parts.table }];
      }),
    };
  }

  private async sendReady(call: ConnectorCall, ready: ReadyStatement): Promise<EndedStatement> {
    const { clock, vault } = this.tools;
    const { signal, clear } = deadlineAfter(call.deadlineMonotonicMs - clock.monotonicMs());
    try {
      const sessions = await this.sessions.open(call.connector);
      if (sessions === null) return ended(failedOutcome('credentials_missing', MISSING_CREDENTIALS));
      const redactor = new Redactor(sessions.secrets, []);
      const parts = { call, ready, signal, redactor, sessions, clock };
      return await (ready.read.isRead ? new ReadCall(parts) : new WriteCall(parts, vault)).run();
    } catch (error) {
      const outcome = outcomeOfNoSession(error);
      if (outcome !== null) return this.unconnected(call, outcome, error);
      if (!(error instanceof DomainError) || error.code !== 'vault_unavailable') throw error;
      return ended(failedOutcome('vault_unavailable', `${error.message} Nothing was applied.`));
    } finally {
      clear();
    }
  }

  private unconnected(call: ConnectorCall, outcome: CallOutcome, error: unknown): EndedStatement {
    const { org, action, connector, toolName: tool } = call;
    const { errorCode: reason } = outcome;
    const fault = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code;
    const facts = { action_id: action, org_id: org, connector: connector.id, tool, reason };
    this.tools.logger.warn(
      'a call had no session with its database',
      fault === undefined ? facts : { ...facts, fault },
    );
    return { outcome, isPassing: outcome.errorCode === 'connector_unavailable' };
  }

  private withRetry(
    { attempt, deadlineMonotonicMs }: ConnectorCall,
    { outcome, isPassing }: EndedStatement,
  ): CallOutcome {
    if (!isPassing) return outcome;
    const [byte = 0] = this.tools.randomness.bytes(1);
    const remainingMs = deadlineMonotonicMs - this.tools.clock.monotonicMs();
    return { ...outcome, retryAfterMs: retryDelayMs({ attempt, remainingMs, retryAfterMs: null, chance: byte / 255 }) };
  }
}

const nullIfVaultIsUnavailable = (error: unknown): null => {
  if (error instanceof DomainError && error.code === 'vault_unavailable') return null;
  throw error;
};

/** What it answered is lost. */
const committedLongAgo = ({ said }: LostCall, lsn: string | null): CallOutcome => ({
  status: 'succeeded',
  errorCode: null,
  errorMessage: null,
  result: null,
  hasSent: true,
  retryAfterMs: null,
  ...(lsn === null ? {} : { transaction: { xid: said.xid, commit_lsn: lsn, rows: null, counts: null } }),
});

const unreadyOutcome = (unready: Unready): CallOutcome => {
  switch (unready.code) {
    case 'tool_unknown':
      return failedOutcome('tool_unknown', TOOL_GONE);
    case 'validation_failed':
      return failedOutcome('validation_failed', `${unready.fault.message} Nothing was sent.`);
    case 'statement_refused':
      return failedOutcome('statement_refused', `${unready.refusal} Nothing was sent.`);
  }
};
