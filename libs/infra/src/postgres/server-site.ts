import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, link, open, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeStateDirectory } from '../config/index.js';
import { EmbeddedPostgresError, type ServerAccount } from './embedded-postgres-error.js';
import { findBinaries } from './server-binaries.js';

export const SUPERUSER = 'ags';

/** What an embedded server is for. A state directory has at most one for each. */
export type ServerPurpose = 'service' | 'demo';

/** The folder, below the state directory, that holds everything of the server. */
const FOLDERS: Readonly<Record<ServerPurpose, string>> = { service: '', demo: 'demo' };

/** The files and settings of one embedded server. */
export interface ServerSite {
  readonly purpose: ServerPurpose;
  /** Holds the data directory and every file beside it: the state directory, or a folder of it. */
  readonly home: string;
  readonly dataDir: string;
  readonly logFile: string;
  readonly startLock: string;
  /** The file that remembers the port, so that connection strings survive restarts of the server. */
  readonly portFile: string;
  /** The folder with `bin`, `lib` and `share`. */
  readonly binaries: string;
  readonly password: string;
  /** The user that the server runs as; null if it runs as our own user. */
  readonly account: ServerAccount | null;
}

/**
 * Prepares a state directory for a server: creates it, lets the server's user pass through it, and gives it a password.
 * @throws {EmbeddedPostgresError} when no server can run there; the message says what to do
 */
export const prepareServerSite = async (stateDir: string, purpose: ServerPurpose = 'service'): Promise<ServerSite> => {
  const isRoot = process.getuid?.() === 0;
  // For root the server runs as another user inside the directory, so that user must be able to pass through it.
  await makeStateDirectory(stateDir);
  // All processes must use one spelling of the path, because it is searched in the server's command line.
  const base = await realpath(stateDir);
  const home = join(base, FOLDERS[purpose]);
  await makeStateDirectory(home);
  const dataDir = join(home, 'postgres');
  const account = await accountFor(dataDir, isRoot);
  if (account) for (const folder of new Set([base, home])) await makePassable(folder, account);
  return {
    purpose,
    home,
    dataDir,
    logFile: join(home, 'postgres.log'),
    startLock: join(home, 'postgres.lock'),
    portFile: join(home, 'postgres.port'),
    binaries: await findBinaries(base, account),
    password: await passwordOf(join(home, 'postgres.password'), dataDir),
    account,
  };
};

/** Where the data of a server lies, as its command line names it. Only looks and creates nothing. */
export const dataDirOf = async (stateDir: string, purpose: ServerPurpose = 'service'): Promise<string> =>
  join(await realpath(stateDir), FOLDERS[purpose], 'postgres');

/**
 * Checks, before anything is created in it, that a server can run in a state directory.
 * @throws {EmbeddedPostgresError} when none can; the message says what to do
 */
export const requireServerSite = async (stateDir: string): Promise<void> => {
  const home = await realpath(stateDir);
  const account = await serverAccountFor(await dataDirOf(stateDir));
  if (account) await makePassable(home, account);
};

/** The user that the files of a data directory belong to, or will belong to; null for the user of this process. */
export const serverAccountFor = (dataDir: string): Promise<ServerAccount | null> =>
  accountFor(dataDir, process.getuid?.() === 0);

const accountFor = async (dataDir: string, isRoot: boolean): Promise<ServerAccount | null> => {
  const owner = await ownerOf(dataDir);
  if (!isRoot) {
    const uid = process.getuid?.();
    if (owner && uid !== undefined && owner.uid !== uid) {
      throw new EmbeddedPostgresError(
        `${dataDir} belongs to user ${owner.uid}, and this process runs as user ${uid}. Run it as the user that made ` +
          'the state directory (root may always), or set SERVICE_STATE_DIR to a folder of your own.',
      );
    }
    return null;
  }
  if (owner && owner.uid !== 0) return owner;
  return accountNamed('postgres') ?? accountNamed('nobody') ?? noAccount();
};

const ownerOf = async (path: string): Promise<ServerAccount | null> => {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

const accountNamed = (name: string): ServerAccount | null => {
  try {
    const id = (flag: string): number =>
      Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch (error) {
    // `id` answers 1 for a user that does not exist.
    if ((error as { status?: unknown }).status === 1) return null;
    throw error;
  }
};

const noAccount = (): never => {
  throw new EmbeddedPostgresError(
    'PostgreSQL refuses to run as root, and there is neither a user postgres nor a user nobody to run it as. ' +
      'Run the service as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own.',
  );
};

const makePassable = async (stateDir: string, account: ServerAccount): Promise<void> => {
  for (let folder = dirname(stateDir); ; folder = dirname(folder)) {
    if (!(await isPassable(folder, account))) {
      throw new EmbeddedPostgresError(
        `PostgreSQL runs as user ${account.uid} here, and that user cannot pass through ${folder} to ${stateDir}. ` +
          'Set SERVICE_STATE_DIR to a folder that others can pass through (such as /var/lib/ags), or run the service ' +
          'as an ordinary user.',
      );
    }
    if (folder === dirname(folder)) break;
  }
  if (await isPassable(stateDir, account)) return;
  await chmod(stateDir, ((await stat(stateDir)).mode & 0o777) | 0o001);
};

const isPassable = async (folder: string, account: ServerAccount): Promise<boolean> => {
  const { mode, uid, gid } = await stat(folder);
  if (uid === account.uid) return (mode & 0o100) !== 0;
  if (gid === account.gid) return (mode & 0o010) !== 0;
  return (mode & 0o001) !== 0;
};

/**
 * The password of the server. It is created once, before the data directory, and never replaced, because the server
 * knows only its hash.
 */
const passwordOf = async (file: string, dataDir: string): Promise<string> => {
  const known = await readUnshared(file);
  if (known !== null) return known;
  if (await ownerOf(dataDir)) {
    throw new EmbeddedPostgresError(
      `${file} is missing, and ${dataDir} cannot be opened without it. Put it back from the backup.`,
    );
  }
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  await writeFile(draft, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
  try {
    await link(draft, file);
    await syncDirectory(dirname(file));
  } catch (error) {
    // Another process has created the file first; its password is used.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file, 'utf8');
};

/**
 * The password in a file; null if there is no such file. Throws if other users can read the file, because the password
 * would open the server to them.
 */
const readUnshared = async (file: string): Promise<string | null> => {
  const text = await readIfPresent(file);
  if (text === null || ((await stat(file)).mode & 0o077) === 0) return text;
  throw new EmbeddedPostgresError(`${file} is readable by others. Run chmod 0600 on it.`);
};

/** The file's text, or null when there is no such file. */
export const readIfPresent = async (file: string): Promise<string | null> => {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

/** Writes a directory to the disk, which makes a rename in it durable. */
export const syncDirectory = async (path: string): Promise<void> => {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
};
