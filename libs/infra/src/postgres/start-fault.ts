import { chmod, stat } from 'node:fs/promises';
import type { Logger } from '#libs/domain/kernel';
import { EmbeddedPostgresError } from './embedded-postgres-error.js';
import { isOutOfSpace } from './refused-writes.js';
import type { ServerSite } from './server-site.js';

/** PostgreSQL refuses a directory that its group may write to, or that others may enter. */
const REFUSED_MODE = 0o027;
const OWN_MODE = 0o700;

/**
 * Makes the data directory acceptable to PostgreSQL. A volume that was mounted often changes its mode, which is set
 * back.
 * @throws {EmbeddedPostgresError} when it belongs to another user than the server would run as; the message names the
 * command that mends it
 */
export const mendDataDirectory = async ({ dataDir, account }: ServerSite, log: Logger): Promise<void> => {
  const { mode, uid } = await stat(dataDir);
  if (account && uid !== account.uid) {
    throw new EmbeddedPostgresError(
      `${dataDir} belongs to user ${uid}, and PostgreSQL runs as user ${account.uid}. Run: ` +
        `chown -R ${account.uid}:${account.gid} ${quoted(dataDir)}`,
    );
  }
  if ((mode & REFUSED_MODE) === 0) return;
  await chmod(dataDir, OWN_MODE);
  log.warn('PostgreSQL refuses a data directory that others can write to or enter: its mode was set to 0700', {
    directory: dataDir,
    mode: `0${(mode & 0o777).toString(8)}`,
  });
};

/** The server's own words about what ended it before it was ready; null if the next start may succeed. */
export const fatalIn = (log: string, pid: number): string | null => {
  // Lines with a time come from the server's logger; before the logger starts, the server may write several plain
  // lines.
  const own = new RegExp(`^(?:.* \\[${pid}\\] .*?(?:FATAL|PANIC): +|postgres: )(.+(?:\n(?!\\d{4}-).+)*)`, 'gm');
  const last = [...log.matchAll(own)].at(-1)?.[1]?.replaceAll('\n', ' ');
  return last === undefined || PASSING.test(last) ? null : last;
};

/**
 * Messages caused by a server that was killed: its remains disappear within seconds, and so does another user of its
 * port.
 */
const PASSING = /pre-existing shared memory|lock file ".*" already exists|could not create any TCP\/IP sockets/;

/** The error for a server that says itself why it cannot run on this directory. */
export const refusedBy = (fatal: string, { dataDir, logFile }: ServerSite): EmbeddedPostgresError =>
  new EmbeddedPostgresError(
    `The embedded PostgreSQL cannot start on ${dataDir}. It says: ${fatal}. ${nextStepAfter(fatal, dataDir)} Its log ` +
      `is ${logFile}.`,
  );

const nextStepAfter = (fatal: string, dataDir: string): string => {
  if (/lock file .*(?:is empty|bogus)|bogus data in lock file/.test(fatal)) {
    const pidFile = `${dataDir}/postmaster.pid`;
    return `Make sure that no PostgreSQL runs on it (pgrep -f ${quoted(dataDir)} prints nothing), then run: rm ${quoted(pidFile)}.`;
  }
  if (/Permission denied|permissions|ownership/.test(fatal)) {
    return `Give every file in it back to one user, the owner of the directory: chown -R --reference=${quoted(dataDir)} ${quoted(dataDir)}.`;
  }
  if (isOutOfSpace(fatal)) return 'Free some space on that disk, then start again.';
  if (/incompatible/.test(fatal)) {
    return 'Start the version of the service that made it, or restore a backup beside it.';
  }
  return 'Mend that, or restore a backup, then start again.';
};

const quoted = (path: string): string => `'${path.replaceAll("'", String.raw`'\''`)}'`;
