import { chmod, mkdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { fileFaultOf, isFullDisk } from './file-fault.js';

/** The state directory cannot be used. The message says why and what to do. */
export class StateDirectoryError extends Error {
  override readonly name = 'StateDirectoryError';
}

/** Passable as root, where PostgreSQL runs as its own user inside it; else nobody else's. */
const STATE_MODE = process.getuid?.() === 0 ? 0o711 : 0o700;
const KEYS_MODE = 0o700;

/**
 * The state directory: 0700, or 0711 as root. `keys/` is always 0700.
 * @returns `done`: made now; `changed`: its modes were put right; `skipped`: was as it must be
 * @throws {StateDirectoryError}
 */
export const prepareStateDirectory = (stateDir: string): Promise<'done' | 'changed' | 'skipped'> =>
  inStateDirectory(stateDir, async () => {
    const keys = join(stateDir, 'keys');
    await makeOwnStateDirectory(stateDir);
    const isNew = await makeFolder(keys, KEYS_MODE);
    await requireOwn(keys);
    const changes = [await ensureMode(stateDir, STATE_MODE), await ensureMode(keys, KEYS_MODE)];
    if (isNew) return 'done';
    return changes.includes(true) ? 'changed' : 'skipped';
  });

/** The folder itself, unless it is there; folders above it as any program makes them. @throws {StateDirectoryError} */
export const makeStateDirectory = async (stateDir: string): Promise<void> => {
  await inStateDirectory(stateDir, () => makeFolder(stateDir, STATE_MODE));
};

/** The same, where it is to be filled. @throws {StateDirectoryError} also where it is another user's: root could write there */
export const makeOwnStateDirectory = async (stateDir: string): Promise<void> => {
  await makeStateDirectory(stateDir);
  await inStateDirectory(stateDir, () => requireOwn(stateDir));
};

/**
 * Work that begins by making the state directory: where it is refused, the folders that were not there before are taken
 * away again, as far as nothing lies in them. What somebody else has put there meanwhile stays.
 */
export const leavingNoFolders = async <Result>(stateDir: string, work: () => Promise<Result>): Promise<Result> => {
  const made = await missingFolders(join(stateDir, 'keys'));
  try {
    return await work();
  } catch (error) {
    for (const folder of made) if (!(await removeEmpty(folder))) break;
    throw error;
  }
};

/** The folder and those above it that are not there, the deepest first. */
const missingFolders = async (folder: string): Promise<readonly string[]> => {
  try {
    await stat(folder);
    return [];
  } catch (error) {
    // Whatever else keeps it from being seen, the work itself will say.
    if (codeOf(error) !== 'ENOENT' || dirname(folder) === folder) return [];
    return [folder, ...(await missingFolders(dirname(folder)))];
  }
};

/** @returns whether it is not there any more */
const removeEmpty = async (folder: string): Promise<boolean> => {
  try {
    await rmdir(folder);
    return true;
  } catch (error) {
    return codeOf(error) === 'ENOENT';
  }
};

/** What `prepareStateDirectory` refuses, without making anything. @throws {StateDirectoryError} it, or its keys, are another user's */
export const requireOwnStateDirectory = (stateDir: string): Promise<void> =>
  inStateDirectory(stateDir, async () => {
    for (const folder of [stateDir, join(stateDir, 'keys')]) {
      if (await isThere(stateDir, folder)) await requireOwn(folder);
    }
  });

/** Whether something is at `path`, within the state directory. @throws {StateDirectoryError} this user may not look */
export const isThere = (stateDir: string, path: string): Promise<boolean> =>
  inStateDirectory(stateDir, async () => {
    try {
      await stat(path);
      return true;
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return false;
      throw error;
    }
  });

/**
 * Step by step: Node's own `recursive` never ends where the file system answers that a folder's parent is missing although
 * it is there, as /proc does.
 * @returns whether this call made it
 */
const makeFolder = async (folder: string, mode?: number): Promise<boolean> => {
  try {
    return await makeOneFolder(folder, mode);
  } catch (error) {
    const parent = dirname(folder);
    if (codeOf(error) !== 'ENOENT' || parent === folder) throw error;
    await makeFolder(parent);
    return makeOneFolder(folder, mode);
  }
};

const makeOneFolder = async (folder: string, mode: number | undefined): Promise<boolean> => {
  try {
    await mkdir(folder, mode);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST' && (await stat(folder)).isDirectory()) return false;
    throw error;
  }
};

/** What lies in another user's folder may be that user's: keys that he knows, links to files of ours. */
const requireOwn = async (folder: string): Promise<void> => {
  const owners = await ownersOf(folder);
  if (owners === '') return;
  throw new StateDirectoryError(
    `${folder} cannot be used: it is another user's.${owners} Run this as the user that made it, or set SERVICE_STATE_DIR to a folder of your own.`,
  );
};

/** Whether it had another mode. */
const ensureMode = async (folder: string, mode: number): Promise<boolean> => {
  if (((await stat(folder)).mode & 0o777) === mode) return false;
  await chmod(folder, mode);
  return true;
};

/** Work on what lies in the state directory. @throws {StateDirectoryError} where this user or the file system keeps it from that */
export const inStateDirectory = async <Result>(stateDir: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw (await understood(stateDir, error as NodeJS.ErrnoException)) ?? error;
  }
};

const understood = async (stateDir: string, error: NodeJS.ErrnoException): Promise<StateDirectoryError | null> => {
  const { code = '', syscall, path = stateDir } = error;
  // A secret file may lie anywhere; what is said here is about the state directory.
  if (!isUpOrDown(stateDir, path)) return null;
  const elsewhere = 'et SERVICE_STATE_DIR to a folder of your own.';
  if (code === 'EACCES' || code === 'EPERM') {
    const denied = (await isClosed(stateDir)) ? stateDir : path;
    const said = `${denied} cannot be used: access is denied.${await ownersOf(stateDir)}`;
    const message = `${said} Run this as the user that made the state directory, or s${elsewhere}`;
    return new StateDirectoryError(message, { cause: error });
  }
  const why = syscall === 'mkdir' && code === 'ENOENT' ? 'no folder can be made there' : fileFaultOf(code);
  if (why === undefined) return null;
  if (isFullDisk(code)) {
    const message = `${path} cannot be used: ${why}. Free some space on that disk and try again.`;
    return new StateDirectoryError(message, { cause: error });
  }
  return new StateDirectoryError(`${path} cannot be used: ${why}. S${elsewhere}`, { cause: error });
};

/** Whether this user may not enter the folder: then it does not matter which file in it was looked for. */
const isClosed = async (folder: string): Promise<boolean> => {
  try {
    await stat(`${folder}${sep}.`);
    return false;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes(codeOf(error) ?? '');
  }
};

const isUpOrDown = (stateDir: string, path: string): boolean =>
  `${path}${sep}`.startsWith(`${stateDir}${sep}`) || stateDir.startsWith(path);

/** Whose the folder is and who asks, as a sentence; nothing where that is the same user or cannot be told. */
const ownersOf = async (folder: string): Promise<string> => {
  const uid = process.geteuid?.();
  try {
    const owner = (await stat(folder)).uid;
    return owner === uid || uid === undefined ? '' : ` ${folder} belongs to user ${owner}, and this is user ${uid}.`;
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return '';
  }
};

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
