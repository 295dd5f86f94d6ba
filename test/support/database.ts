import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { inject } from 'vitest';
import { type EmbeddedPostgres, ensureDatabase, startEmbeddedPostgres } from '#libs/infra/postgres';
import { installSchemas, startedSchemas } from '#libs/infra/schemas';
import { silentLogger } from './silent-logger.js';

/** Serializes the processes that find no template: the letters AGS2. */
const TEMPLATE_LOCK = 0x41475332;

export interface TestDatabase {
  readonly connectionString: string;
  /** Ends whoever is still connected. */
  drop(): Promise<void>;
}

/** What a database is copied from: its name, and what is installed in it. */
interface Template {
  readonly name: string;
  readonly install: (connectionString: string) => Promise<unknown>;
}

const EMPTY: Template = { name: 'template_empty', install: () => Promise.resolve() };
const LOG_ONLY: Template = { name: 'template_log', install: (at) => installSchemas(at, ['event_store']) };
const WHOLE: Template = { name: 'template_whole', install: (at) => installSchemas(at, startedSchemas(true)) };

let started: Promise<EmbeddedPostgres> | null = null;

/** The run's server, started by whoever asks first; `postgres.global-setup.ts` stops it after the last spec. */
const server = (): Promise<EmbeddedPostgres> =>
  (started ??= startEmbeddedPostgres({ stateDir: inject('testStateDir'), log: silentLogger }).then(async (running) => {
    await administer(running, hurry);
    return running;
  }));

/**
 * What a crash of the machine would need is left away: no spec pulls its plug. A process that is killed loses nothing by it.
 */
const hurry = async (admin: pg.Client): Promise<void> => {
  await admin.query('alter system set fsync = off');
  await admin.query('alter system set full_page_writes = off');
  await admin.query('select pg_reload_conf()');
};

/** A database of one spec's own, in which nothing is installed. */
export const createEmptyDatabase = (): Promise<TestDatabase> => copyOf(EMPTY);

/** A database of one spec's own, with the event store's schema in place and nothing else. */
export const createTestDatabase = (): Promise<TestDatabase> => copyOf(LOG_ONLY);

/** A database of one spec's own, with all that a deployment installs in place. */
export const createWholeDatabase = (): Promise<TestDatabase> => copyOf(WHOLE);

const copyOf = async (template: Template): Promise<TestDatabase> => {
  const running = await server();
  await prepare(running, template);
  const name = `test_${randomBytes(6).toString('hex')}`;
  // Its files are copied, which takes half the time of logging each of their pages.
  const creation = `create database ${name} template ${template.name} strategy file_copy`;
  await administer(running, (admin) => admin.query(creation));
  return {
    connectionString: running.connectionString(name),
    drop: () =>
      administer(running, async (admin) => {
        await admin.query(farewells(name));
        await admin.query(`drop database if exists ${name} with (force)`);
      }),
  };
};

/**
 * A pool says that it has ended before the server has let go of its connections. Ended by force meanwhile, such a connection
 * has nobody left who hears of it, and the run fails. So up to ten seconds they are waited for.
 */
const farewells = (database: string): string => `do $$ begin
  for round in 1..1000 loop
    perform pg_stat_clear_snapshot();
    exit when not exists (select from pg_stat_activity where datname = '${database}');
    perform pg_sleep(0.01);
  end loop;
end $$`;

const prepared = new Map<Template, Promise<void>>();

const prepare = (running: EmbeddedPostgres, template: Template): Promise<void> => {
  const known = prepared.get(template) ?? prepareTemplate(running, template);
  prepared.set(template, known);
  return known;
};

const prepareTemplate = (running: EmbeddedPostgres, { name, install }: Template): Promise<void> =>
  administer(running, async (admin) => {
    await admin.query('select pg_advisory_lock($1)', [TEMPLATE_LOCK]);
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 1) return;
    const draft = `${name}_draft`;
    // Left by a run that was interrupted half way.
    await admin.query(`drop database if exists ${draft} with (force)`);
    await ensureDatabase(running.connectionString(draft), silentLogger);
    await install(running.connectionString(draft));
    await admin.query(farewells(draft));
    await admin.query(`alter database ${draft} rename to ${name}`);
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
