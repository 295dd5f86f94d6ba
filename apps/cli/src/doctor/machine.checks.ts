import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readRestoredMark } from '#libs/infra/backup';
import {
  ignoredVariables,
  isThere,
  parseConfig,
  problemsOfSettings,
  requireOwnStateDirectory,
  type Config,
} from '#libs/infra/config';
import { freeBytesAt, LITTLE_SPACE_BYTES, SCARCE_SPACE_BYTES, spaceText } from '#libs/infra/runtime';
import { ok, problem, warning, type Finding } from './finding.js';

const IN_DEVELOPMENT = 'SERVICE_ENV is dev: connectors may reach private addresses, every port and plain http.';
const CONFIG_HELP = '`npm run ags -- config` shows every setting and what is wrong with it.';
const INIT_HELP = 'Set SERVICE_STATE_DIR to where the service lives, or make one with `npm run ags -- init`.';

export const checkSettings = (): Finding => {
  const problems = problemsOfSettings();
  if (problems.length > 0) {
    const said = `The settings are not usable: ${problems.join('; ')}`;
    return problem(said.endsWith('?') ? said : `${said}.`, CONFIG_HELP);
  }
  const ignored = ignoredVariables();
  if (ignored.length === 0) {
    const isOpen = parseConfig().env === 'dev';
    return ok(isOpen ? `The settings are usable. ${IN_DEVELOPMENT}` : 'The settings are usable.');
  }
  return warning(`The settings are usable, and these variables are none: ${ignored.join(', ')}.`, CONFIG_HELP);
};

/** Root's PostgreSQL passes through as another user, and must not read. */
const FORBIDDEN_BITS = process.getuid?.() === 0 ? 0o066 : 0o077;

/** @throws {StateDirectoryError} this user may not look into it, or it is another user's: a start would refuse it */
export const checkStateDirectory = async (config: Config): Promise<Finding> => {
  const { stateDir, databaseUrl } = config;
  if (!(await isThere(stateDir, stateDir))) {
    return isAllElsewhere(config)
      ? ok(`${stateDir} is not there, and nothing of it is needed: the database and the keys lie elsewhere.`)
      : problem(`${stateDir} is not there.`, INIT_HELP);
  }
  if (!(await stat(stateDir)).isDirectory()) return problem(`${stateDir} is not a folder.`, INIT_HELP);
  await requireOwnStateDirectory(stateDir);
  if (databaseUrl === null && !(await isThere(stateDir, join(stateDir, 'postgres', 'PG_VERSION')))) {
    return problem(`There is no database in ${stateDir}.`, INIT_HELP);
  }
  const keys = join(stateDir, 'keys');
  for (const [folder, forbidden] of [
    [stateDir, FORBIDDEN_BITS],
    [keys, 0o077],
  ] as const) {
    if (!(await isThere(stateDir, folder))) continue;
    const mode = (await stat(folder)).mode & 0o777;
    if ((mode & forbidden) === 0) continue;
    const next = `The next start puts it right; until then, run chmod ${(mode & ~forbidden).toString(8)} on it.`;
    return warning(`${folder} is open to other users of this machine (mode ${mode.toString(8)}).`, next);
  }
  const restored = await readRestoredMark(stateDir);
  if (restored !== null) {
    const message = `${stateDir} was restored from a backup of ${restored.created_at}, and no service starts on it yet.`;
    const next =
      'Compare it with what was sealed since: `npm run ags -- confirm-restore --heads OLD_STATE_DIR/sealed-heads`, or what its --help says.';
    return warning(message, next);
  }
  return ok(`${stateDir} is there, and nobody else can read it.`);
};

/** As on a machine that runs apis alone: a worker makes the folder when it seals. */
const isAllElsewhere = ({ databaseUrl, vaultKeyFile, pepperFile }: Config): boolean =>
  databaseUrl !== null && vaultKeyFile !== null && pepperFile !== null;

export const checkDiskSpace = async ({ stateDir }: Config): Promise<Finding> => {
  let folder = stateDir;
  // It would be made there.
  while (!(await isThere(stateDir, folder)) && folder !== dirname(folder)) folder = dirname(folder);
  return judgeFreeSpace(stateDir, await freeBytesAt(folder));
};

export const judgeFreeSpace = (stateDir: string, freeBytes: number): Finding => {
  const message = `${spaceText(freeBytes)} are free in the file system of ${stateDir}.`;
  if (freeBytes >= LITTLE_SPACE_BYTES) return ok(message);
  const next = 'Free some, or move the state directory to a larger file system: without space nothing is recorded.';
  return freeBytes < SCARCE_SPACE_BYTES ? problem(message, next) : warning(message, next);
};
