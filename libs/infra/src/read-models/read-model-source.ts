import { DataSource, type DataSourceOptions, type Logger as QueryLogger, type QueryRunner } from 'typeorm';
import pg from 'pg';
import { UnfitDatabase } from '../event-store/index.js';
import { IDLE_CONNECTIONS, MortalClient, poolVerify } from '../postgres/index.js';
import { AgentRow } from './agents/agent.row.js';
import { ConnectorRow } from './connectors/connector.row.js';
import { BriefedActionRow } from './events/briefed-action.row.js';
import { PublicEventFloorRow } from './events/public-event-floor.js';
import { PublicEventRow } from './events/public-event.row.js';
import { ActionRow } from './gate/action.row.js';
import { ApprovalRow } from './gate/approval.row.js';
import { HourlyCountRow } from './gate/hourly-count.row.js';
import { HourlyTotalRow } from './gate/hourly-total.row.js';
import { DeedRow } from './ledger/deed.row.js';
import { CreateReadModels1764000000000 } from './migrations/1764000000000-create-read-models.js';
import { AddAgents1795700000000 } from './migrations/1795700000000-add-agents.js';
import { AddSecurityEvents1795800000000 } from './migrations/1795800000000-add-security-events.js';
import { AddDeedAbouts1795910000000 } from './migrations/1795910000000-add-deed-abouts.js';
import { AddActionFilters1795920000000 } from './migrations/1795920000000-add-action-filters.js';
import { AddApprovals1795930000000 } from './migrations/1795930000000-add-approvals.js';
import { AddHourlyCounts1795950000000 } from './migrations/1795950000000-add-hourly-counts.js';
import { AddShadowDiffers1795970000000 } from './migrations/1795970000000-add-shadow-differs.js';
import { AddPublicEvents1796000000000 } from './migrations/1796000000000-add-public-events.js';
import { AddHourlyTotals1796030000000 } from './migrations/1796030000000-add-hourly-totals.js';
import { AddActionKeys1796040000000 } from './migrations/1796040000000-add-action-keys.js';
import { WidenSecurityEvents1796042000000 } from './migrations/1796042000000-widen-security-events.js';
import { AddExportsToSecurityEvents1796043000000 } from './migrations/1796043000000-add-exports-to-security-events.js';
import { SecurityEventRow } from './people/security-event.row.js';
import { PolicySlotRow } from './policies/policy-slot.row.js';
import { PolicyVersionRow } from './policies/policy-version.row.js';
import { PolicyRow } from './policies/policy.row.js';
import { ProjectionCheckpointRow } from './projection-checkpoint.row.js';
import { LIVE_SCHEMA } from './row-transaction.js';

/** Of the session lock that lets one process migrate at a time; any number that no other lock of ours uses. */
const MIGRATION_LOCK = 7_105_002;
/** Never edited once released: a change is a new entry at the end. */
const MIGRATIONS = [
  CreateReadModels1764000000000,
  AddAgents1795700000000,
  AddSecurityEvents1795800000000,
  AddDeedAbouts1795910000000,
  AddActionFilters1795920000000,
  AddApprovals1795930000000,
  AddHourlyCounts1795950000000,
  AddShadowDiffers1795970000000,
  AddPublicEvents1796000000000,
  AddHourlyTotals1796030000000,
  AddActionKeys1796040000000,
  WidenSecurityEvents1796042000000,
  AddExportsToSecurityEvents1796043000000,
];
/** As the database lists those that it was given. */
export const READ_MODEL_MIGRATIONS: readonly string[] = MIGRATIONS.map(({ name }) => name);

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
      DeedRow,
      ConnectorRow,
      PolicyRow,
      PolicyVersionRow,
      PolicySlotRow,
      AgentRow,
      SecurityEventRow,
      PublicEventRow,
      BriefedActionRow,
      PublicEventFloorRow,
      ProjectionCheckpointRow,
    ],
    migrations: MIGRATIONS,
    migrationsTableName: 'migrations',
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

/**
 * `folded` has 2 KB or more, which PostgreSQL would try to make shorter each time, for little. It stays in its table beside:
 * `q` reads the others. No migration, so that a process of the version before still starts.
 */
const ACTIONS_LAYOUT = `
DO $layout$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = '${LIVE_SCHEMA}.actions'::regclass
                  AND attname = 'folded' AND attstorage = 'e') THEN
    ALTER TABLE ${LIVE_SCHEMA}.actions ALTER COLUMN folded SET STORAGE EXTERNAL;
  END IF;
END $layout$`;

/** What most actions are has no index of these, so that an ordinary action costs nothing more: they find what is rare. */
const INDEXES_OF_THE_RARE: Readonly<Record<string, string>> = {
  actions_by_error: `(org, error_code, created_at, id) WHERE error_code IS NOT NULL`,
  actions_by_decision: `(org, decision, created_at, id) WHERE decision <> 'allow'`,
  actions_by_verdict: `(org, verdict, created_at, id) WHERE verdict <> 'VERIFIED'`,
  actions_by_level: `(org, level, created_at, id) WHERE level <> 'L0'`,
};

/** Asked first, because IF NOT EXISTS waits for whoever writes. No migration, for the same reason as above. */
const missingIndexes = async (session: QueryRunner): Promise<readonly string[]> => {
  const rows = (await session.query('SELECT indexname FROM pg_indexes WHERE schemaname = $1', [
    LIVE_SCHEMA,
  ])) as readonly { indexname: string }[];
  const present = new Set(rows.map(({ indexname }) => indexname));
  return Object.keys(INDEXES_OF_THE_RARE).filter((name) => !present.has(name));
};

/** An older process has no rows in tables of a newer shape. */
const refuseNewer = async (session: QueryRunner): Promise<void> => {
  if (!(await session.hasTable(`${LIVE_SCHEMA}.migrations`))) return;
  const run = (await session.query(`SELECT name FROM ${LIVE_SCHEMA}.migrations`)) as readonly { name: string }[];
  const unknown = run.filter(({ name }) => !READ_MODEL_MIGRATIONS.includes(name));
  if (unknown.length === 0) return;
  const names = unknown.map(({ name }) => name).join(', ');
  throw new UnfitDatabase(
    `The rows that lists are read from were changed by a newer version of the service (${names}). Run that version.`,
  );
};

/**
 * Brings the tables of a database up to date. Any number of processes may do so at once.
 * @throws {UnfitDatabase} a newer version has changed them
 */
export const installReadModels = async (connectionString: string): Promise<void> => {
  // A source of its own: its sessions end with it, and the lock with them, whatever happened in between.
  const source = readModelSource({
    connectionString,
    applicationName: 'ags read model migrations',
    maxConnections: 2,
    statementTimeoutMs: 0,
    isDurable: true,
    onError: (error) => {
      throw error;
    },
  });
  await source.initialize();
  try {
    const session = source.createQueryRunner();
    await session.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await session.query(`CREATE SCHEMA IF NOT EXISTS ${LIVE_SCHEMA}`);
    await refuseNewer(session);
    await source.runMigrations();
    await session.query(ACTIONS_LAYOUT);
    for (const name of await missingIndexes(session)) {
      await session.query(`CREATE INDEX ${name} ON ${LIVE_SCHEMA}.actions ${INDEXES_OF_THE_RARE[name] ?? ''}`);
    }
    await session.release();
  } finally {
    await source.destroy();
  }
};
