import { DataSource, type DataSourceOptions, type Logger as QueryLogger } from 'typeorm';
import pg from 'pg';
import { IDLE_CONNECTIONS, MortalClient, poolVerify } from '../postgres/index.js';
import { AgentRow } from './agents/agent.row.js';
import { ConnectorRow } from './connectors/connector.row.js';
import { BriefedActionRow } from './events/briefed-action.row.js';
import { BriefedConnectorRow } from './events/briefed-connector.row.js';
import { PublicEventFloorRow } from './events/public-event-floor.js';
import { PublicEventRow } from './events/public-event.row.js';
import { ActionRow } from './gate/action.row.js';
import { ApprovalRow } from './approvals/approval.row.js';
import { HourlyCountRow } from './insights/hourly-count.row.js';
import { HourlyTotalRow } from './insights/hourly-total.row.js';
import { CheckpointRow } from './ledger/checkpoint.row.js';
import { CosignatureRow } from './ledger/cosignature.row.js';
import { DeedRow } from './ledger/deed.row.js';
import { SecurityEventRow } from './people/security-event.row.js';
import { PolicySlotRow } from './policies/policy-slot.row.js';
import { PolicyVersionRow } from './policies/policy-version.row.js';
import { PolicyRow } from './policies/policy.row.js';
import { ProjectionCheckpointRow } from './projection-checkpoint.row.js';
import { LIVE_SCHEMA } from './row-transaction.js';

const CONNECT_TIMEOUT_MS = 3_000;
/**
 * After it the server ends a session that does nothing within a transaction: a process that was frozen there would keep
 * whoever takes over from its checkpoint.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 5_000;
/** What a hung server gets on top of its own timeout before the client gives up. */
const ANSWER_SLACK_MS = 500;

export interface ReadModelSourceOptions {
  readonly connectionString: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  /** Ends a statement on the server; 0 lets it run. */
  readonly statementTimeoutMs: number;
  /**
   * Whether a commit is on disk when it is answered. Rows and checkpoint come back from the log together, so whoever
   * projects leaves the disk to the appends that people wait for.
   */
  readonly isDurable: boolean;
  /** Told when an idle connection was lost; the pool replaces it by itself. */
  readonly onError: (error: Error) => void;
  /** Asked of each new connection before it is used; what it throws is its first user's error. */
  readonly verify?: (connection: pg.ClientBase) => Promise<void>;
  readonly queryLogger?: QueryLogger;
}

/** Not yet connected: call `initialize()`. */
export const readModelSource = (options: ReadModelSourceOptions): DataSource => {
  const { statementTimeoutMs, maxConnections } = options;
  const settings: DataSourceOptions = {
    type: 'postgres',
    // What this program has loaded; TypeORM would load another from node_modules.
    driver: pg,
    url: options.connectionString,
    schema: LIVE_SCHEMA,
    entities: [
      ActionRow,
      ApprovalRow,
      HourlyCountRow,
      HourlyTotalRow,
      CheckpointRow,
      CosignatureRow,
      DeedRow,
      ConnectorRow,
      PolicyRow,
      PolicyVersionRow,
      PolicySlotRow,
      AgentRow,
      SecurityEventRow,
      PublicEventRow,
      BriefedActionRow,
      BriefedConnectorRow,
      PublicEventFloorRow,
      ProjectionCheckpointRow,
    ],
    installExtensions: false,
    applicationName: options.applicationName,
    poolErrorHandler: options.onError,
    logging: options.queryLogger !== undefined,
    ...(options.queryLogger === undefined ? {} : { logger: options.queryLogger }),
    extra: {
      Client: MortalClient,
      max: maxConnections,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      ...IDLE_CONNECTIONS,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
      ...(statementTimeoutMs === 0
        ? {}
        : { statement_timeout: statementTimeoutMs, query_timeout: statementTimeoutMs + ANSWER_SLACK_MS }),
      keepAlive: true,
      ...(options.verify === undefined ? {} : { verify: poolVerify(options.verify) }),
      ...(options.isDurable ? {} : { options: '-c synchronous_commit=off' }),
    },
  };
  return new DataSource(settings);
};
