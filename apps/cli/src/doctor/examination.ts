import type pg from 'pg';
import { FoldedStreams, ONLY_STREAM, streamRef, type Logger } from '#libs/domain/kernel';
import type { LivingOrganization } from '#libs/domain/people';
import { PostgresKeyDirectory } from '#libs/infra/agents';
import { EMBEDDED_DATABASE, type Config } from '#libs/infra/config';
import { openEventStore, type OpenedEventStore } from '#libs/infra/event-store';
import {
  createReadOnlyPool,
  isEmbeddedPostgresRunning,
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '#libs/infra/postgres';
import { Census } from '../census.js';
import type { Server } from './server.js';

const APPLICATION_NAME = 'ags cli';
const CONNECTIONS = 2;
/** A check has 3 seconds. */
const DEADLINE_MS = 2_000;

interface OpenedDatabase {
  readonly embedded: EmbeddedPostgres | null;
  readonly pool: pg.Pool;
  readonly store: OpenedEventStore;
  readonly streams: FoldedStreams;
  /** Whether the embedded server ran already; null where the database is not embedded. */
  readonly wasRunning: boolean | null;
}

/** What the checks look at, opened when the first of them needs it. Nothing of it writes. */
export class Examination {
  private opening: Promise<OpenedDatabase> | null = null;
  /** Where a service answers that is not another deployment's; null where none does. */
  server: Server | null = null;
  /** The server did not take the API key. */
  isKeyRefused = false;

  constructor(
    readonly config: Config,
    readonly apiKey: string | null,
    private readonly logger: Logger,
  ) {}

  database(): Promise<OpenedDatabase> {
    return (this.opening ??= this.open());
  }

  /** Every seal key that this deployment has had; null where the database was not looked at, or does not say. */
  async sealKeys(): Promise<ReadonlySet<string> | null> {
    const { sealKeyDecider } = await import('#libs/domain/ledger');
    try {
      const folded = await (await this.opening)?.streams.load(streamRef(sealKeyDecider, ONLY_STREAM));
      return folded === undefined ? null : new Set(folded.state.map(({ kid }) => kid));
    } catch {
      // A check of its own says why.
      return null;
    }
  }

  /** Whether the database was looked at, and answers. */
  async isOpened(): Promise<boolean> {
    return Boolean(await this.opening?.catch(() => null));
  }

  /** Whether a process of one of these programs is connected to the database; false where that was not looked at. */
  async isConnected(...programs: readonly ('api' | 'worker' | 'projector' | 'standalone')[]): Promise<boolean> {
    const opened = await this.opening?.catch(() => null);
    if (!opened) return false;
    const { rows } = await opened.pool.query<{ is_connected: boolean }>(
      `select exists (select from pg_stat_activity where datname = current_database()
         and application_name similar to $1) as is_connected`,
      [`ags (${programs.join('|')})%`],
    );
    return rows[0]?.is_connected ?? false;
  }

  async organizations(): Promise<readonly LivingOrganization[]> {
    const { store, streams, pool } = await this.database();
    return new Census(store, streams, new PostgresKeyDirectory(pool)).organizations();
  }

  /** An embedded server that was not running before is stopped again, also where a check gave up waiting for it. */
  async close(): Promise<void> {
    const opened = await this.opening?.catch(() => null);
    if (!opened) return;
    await opened.store.close();
    await opened.pool.end();
    await opened.embedded?.release();
  }

  private async open(): Promise<OpenedDatabase> {
    const { databaseUrl, eventStoreUrl, stateDir } = this.config;
    const wasRunning = databaseUrl === null ? await isEmbeddedPostgresRunning(stateDir) : null;
    const embedded = databaseUrl === null ? await startEmbeddedPostgres({ stateDir, log: this.logger }) : null;
    const connectionString = databaseUrl ?? (embedded as EmbeddedPostgres).connectionString(EMBEDDED_DATABASE);
    const onError = (error: Error): void => this.logger.debug('an idle database connection was lost', { error });
    const store = openEventStore(
      { eventStoreUrl, connectionString },
      { applicationName: APPLICATION_NAME, log: this.logger, onConnectionLost: onError, deadlineMs: DEADLINE_MS },
    );
    const pool = createReadOnlyPool({
      connectionString,
      applicationName: APPLICATION_NAME,
      maxConnections: CONNECTIONS,
      onError,
    });
    return { embedded, pool, store, streams: new FoldedStreams(store), wasRunning };
  }
}
