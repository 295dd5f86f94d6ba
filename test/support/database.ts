import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { installEventStoreSchema } from '#libs/infra/event-store';
import { type EmbeddedPostgres, ensureDatabase, startEmbeddedPostgres } from '#libs/infra/postgres';
import { silentLogger } from './silent-logger.js';

const TEMPLATE = 'template_test';
/** Serializes the processes that find no template: the letters AGS2. */
const TEMPLATE_LOCK = 0x41475332;

export interface TestDatabase {
  readonly connectionString: string;
  /** Ends whoever is still connected. */
  drop(): Promise<void>;
}

/** What every test database holds from the start, in this order. */
const PREPARATIONS: readonly ((connectionString: string) => Promise<unknown>)[] = [installEventStoreSchema];

let started: Promise<EmbeddedPostgres> | null = null;

/** The run's server, started by whoever asks first; `postgres.global-setup.ts` stops it after the last spec. */
const server = (): Promise<EmbeddedPostgres> =>
  (started ??= startEmbeddedPostgres({ stateDir: inject('testStateDir'), log: silentLogger }).then(async (running) => {
    await prepareTemplate(running);
    return running;
  }));

/** A database of one spec's own, with the event store's schema in place. */
export const createTestDatabase = async (): Promise<TestDatabase> => {
  const running = await server();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await administer(running, (admin) => admin.query(`create database ${name} template ${TEMPLATE}`));
  return {
    connectionString: running.connectionString(name),
    drop: async () => {
      await administer(running, (admin) => admin.query(`drop database if exists ${name} with (force)`));
    },
  };
};

const prepareTemplate = (running: EmbeddedPostgres): Promise<void> =>
  administer(running, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [TEMPLATE]);
    if (rowCount === 1) return;
    const draft = `${TEMPLATE}_draft`;
    // Left by a run that was interrupted half way.
    await admin.query(`drop database if exists ${draft} with (force)`);
    await ensureDatabase(running.connectionString(draft), silentLogger);
    for (const prepare of PREPARATIONS) await prepare(running.connectionString(draft));
    await admin.query(`alter database ${draft} rename to ${TEMPLATE}`);
  });

const administer = async <Result>(
  running: EmbeddedPostgres,
  task: (admin: pg.Client) => Promise<Result>,
): Promise<Result> => {
  const admin = new pg.Client({
    connectionString: running.connectionString('postgres'),
    application_name: 'ags tests',
  });
  await admin.connect();
  try {
    return await task(admin);
  } finally {
    await admin.end();
  }
};
