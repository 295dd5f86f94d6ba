import { inspectDatabases, inspectRole, inspectSchema, type RoleState, type SchemaState } from '#libs/infra/diagnosis';
import { withoutLogicalLog } from './databases.checks.js';
import type { Examination } from './examination.js';
import { ok, problem, warning, type Finding } from './finding.js';

const OLDEST_VERSION = 150_000;
const START_HELP = 'The next start of the service installs it.';
/** No start of an api, a worker or a projector makes it. */
const TABLE_OF_INIT = 'agents.first_organization';
const SCHEMA_OF_INIT = 'first_organization';
const WHO_OWNS = 'who owns what an upgrade and a rebuild of projections change';
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

export const checkDatabaseRole = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  return judgeRole(await inspectRole(pool, examination.config.eventStoreUrl === null));
};

export const judgeRole = ({ role, isStandby, lacks, owners }: RoleState): Finding => {
  if (isStandby)
    return problem('The database is a standby, which takes no writes.', 'Name the primary in DATABASE_URL.');
  const missing = lacks.map(({ privileges, place }) => `${privileges.toUpperCase()} on ${place}`);
  const faults = [
    ...(missing.length === 0 ? [] : [`lacks ${missing.join('; ')}`]),
    ...(owners.length === 0 ? [] : [`may not act as ${owners.join(', ')}, ${WHO_OWNS}`]),
  ];
  if (faults.length === 0) return ok(`The role ${role} may read, write and create what the service needs.`);
  const grants = [
    ...lacks.map(({ privileges, place }) => `grant ${privileges} on ${place} to ${role};`),
    ...owners.map((owner) => `grant ${owner} to ${role};`),
  ];
  return problem(
    `The role ${role} ${faults.join(', and ')}.`,
    `Run \`${grants.join(' ')}\` as the owner or a superuser, or use the role that the service was set up with.`,
  );
};

export const checkMigrations = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  return judgeSchema(await inspectSchema(pool, examination.config.eventStoreUrl === null));
};

export const judgeSchema = ({ isPrepared, noted, behind, newer, unfit, missingTables }: SchemaState): Finding => {
  if (!isPrepared) {
    return problem('The database is not prepared.', 'Run `npm run ags -- init`; `npm start` does so by itself.');
  }
  if (unfit.length > 0) {
    return problem('Another version of the service has changed the database.', unfit.join(' '));
  }
  if (behind.length > 0) {
    return warning('The database holds the schema of an older version.', START_HELP);
  }
  if (missingTables.length > 0) {
    // Once its step is noted, init makes it no more.
    const isMadeByInit = missingTables.every((name) => name === TABLE_OF_INIT) && !noted.includes(SCHEMA_OF_INIT);
    const next = isMadeByInit
      ? `${INIT_HELP} Where it was there before, look for who removed it.`
      : 'The service had installed it, and does so only once: look for who removed it, and restore a backup.';
    return problem(`The database misses ${missingTables.join(', ')}.`, next);
  }
  if (newer.length > 0) {
    return warning(
      `A newer version of the service has changed the database (${newer.join(', ')}), and this one may run beside it.`,
      'Replace the programs of this version by the newer one.',
    );
  }
  return ok('Every schema is the one of this version.');
};

/** Of our own database, and of those that connectors lead to, by the word of their last test. */
export const checkWalLevel = async (examination: Examination): Promise<Finding> => {
  const { pool } = await examination.database();
  const { rows } = await pool.query<{ wal_level: string }>('show wal_level');
  const level = rows[0]?.wal_level ?? '';
  const without = withoutLogicalLog(await inspectDatabases(pool));
  if (without !== null) {
    return problem(
      `wal_level is not logical in the database of ${without}, so no change there can be confirmed.`,
      'Set wal_level = logical there and restart that PostgreSQL, then test the connector again.',
    );
  }
  if (level === 'logical') return ok('wal_level is logical.');
  return warning(`wal_level is ${level}.`, 'Set wal_level = logical and restart PostgreSQL.');
};
