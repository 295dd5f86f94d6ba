import { inspectSchema, type SchemaState } from '#libs/infra/diagnosis';
import type { Examination } from './examination.js';
import { ok, problem, warning, type Finding } from './finding.js';

const OLDEST_VERSION = 150_000;
const START_HELP = 'The next start of the service installs it.';
/** No start of an api, a worker or a projector makes it. */
const TABLE_OF_INIT = 'agents.first_organization';
const INIT_HELP = 'Run `npm run ags -- init`, which installs what is missing.';

export const checkDatabase = async (examination: Examination): Promise<Finding> => {
  const { pool, wasRunning } = await examination.database();
  const { rows } = await pool.query<{ version: string; number: number }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number`,
  );
  const { version = '', number = 0 } = rows[0] ?? {};
  if (number < OLDEST_VERSION) {
    return problem(`The database is PostgreSQL ${version}.`, 'Move it to PostgreSQL 15 or newer.');
  }
  if (wasRunning === null) return ok(`PostgreSQL ${version} answers.`);
  const running = wasRunning ? 'answers' : 'was not running: it was started to look, and is stopped again';
  return ok(`The embedded PostgreSQL ${version} ${running}.`);
};

interface RoleRow {
  readonly role: string;
  readonly can_create: boolean;
  readonly is_standby: boolean;
  readonly closed: string | null;
}

/** Of our schemas, the first table that this role may not read and write. */
const ROLE = `
select current_user as role, has_database_privilege(current_database(), 'CREATE') as can_create,
       pg_is_in_recovery() as is_standby,
       (select min(format('%I.%I', n.nspname, c.relname))
          from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind = 'r'
           and (n.nspname in ('agents', 'event_store', 'gate', 'idempotency', 'ledger', 'read_models')
                or c.relname in ('known_event_store', 'vault_secrets', 'vault_key_check') and n.nspname = 'public')
           and not (has_schema_privilege(n.oid, 'USAGE')
                    and has_table_privilege(c.oid, 'SELECT') and has_table_privilege(c.oid, 'INSERT'))) as closed`;

export const checkDatabaseRole = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  const { role, can_create, is_standby, closed } = (await pool.query<RoleRow>(ROLE)).rows[0] as RoleRow;
  if (is_standby)
    return problem('The database is a standby, which takes no writes.', 'Name the primary in DATABASE_URL.');
  if (closed !== null) {
    return problem(
      `The role ${role} may not read and write ${closed}.`,
      'Use the role that the service was set up with.',
    );
  }
  if (can_create) return ok(`The role ${role} may read, write and create what the service needs.`);
  const next = `Run \`grant create on database ... to ${role}\` before the next upgrade, which may install a schema.`;
  return warning(`The role ${role} may not create schemas.`, next);
};

export const checkMigrations = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  return judgeSchema(await inspectSchema(pool, examination.config.eventStoreUrl === null));
};

export const judgeSchema = ({ eventStore, readModels, missingTables }: SchemaState): Finding => {
  const isPrepared = eventStore === null ? !missingTables.includes('gate.payloads') : eventStore.installed > 0;
  if (!isPrepared) {
    return problem('The database is not prepared.', 'Run `npm run ags -- init`; `npm start` does so by itself.');
  }
  const { installed, known } = eventStore ?? { installed: 0, known: 0 };
  if (installed > known || readModels.unknown.length > 0) {
    return problem('The database was written by a newer version of the service.', 'Run that version.');
  }
  if (installed < known || readModels.missing.length > 0) {
    return warning('The database holds the schema of an older version.', START_HELP);
  }
  if (missingTables.length > 0) {
    const isMadeByInit = missingTables.includes(TABLE_OF_INIT);
    const next = `${isMadeByInit ? INIT_HELP : START_HELP} Where it was there before, look for who removed it.`;
    return problem(`The database misses ${missingTables.join(', ')}.`, next);
  }
  return ok('Every schema is the one of this version.');
};

/** Nothing of this version reads the log logically; what watches a database will. */
export const checkWalLevel = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  const { rows } = await pool.query<{ wal_level: string }>('show wal_level');
  const level = rows[0]?.wal_level ?? '';
  if (level === 'logical') return ok('wal_level is logical.');
  return warning(`wal_level is ${level}.`, 'Set wal_level = logical and restart PostgreSQL.');
};
