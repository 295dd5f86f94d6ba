import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from './live-process.js';

const RETRY_MS = 25;
const DEADLINE_MS = 120_000;

interface Holder {
  readonly pid: number;
  readonly identity: string;
  /** Differs each time the lock is taken, so that a holder removes its own lock only. */
  readonly token: string;
}

/** Another live process has held the lock for too long. */
class StartLockHeld extends Error {
  override readonly name = 'StartLockHeld';
  constructor(path: string, pid: number) {
    super(
      `process ${pid} has been starting or stopping PostgreSQL for ${DEADLINE_MS / 1000} s (${path}). ` +
        'Wait for it or end it, then try again.',
    );
  }
}

/**
 * Runs `body` while a file names this process as the holder. If the holder named in the file has ended, the lock is
 * taken over. It serializes starting and stopping only and protects no data: PostgreSQL itself refuses a second server
 * on one data directory.
 *
 * @throws {StartLockHeld} when a live process has held the lock for two minutes
 */
export const withStartLock = async <Result>(path: string, body: () => Promise<Result>): Promise<Result> => {
  const mine: Holder = { pid: process.pid, identity: processIdentity(process.pid) ?? '', token: randomUUID() };
  const draft = `${path}.${mine.token}`;
  // Kept open until the lock is released: by then this process may have run out of file handles, and could not open the
  // file to check it.
  const file = await open(draft, 'wx', 0o600);
  try {
    try {
      await file.writeFile(JSON.stringify(mine)).catch((error: unknown) => {
        // For an open file Node's error names no path.
        throw Object.assign(error as NodeJS.ErrnoException, { path });
      });
      await take(path, draft);
    } finally {
      await rm(draft, { force: true });
    }
    try {
      return await body();
    } finally {
      if (await isAt(path, file)) await rm(path, { force: true });
    }
  } finally {
    await file.close();
  }
};

const take = async (path: string, draft: string): Promise<void> => {
  for (const startedAt = performance.now(); ;) {
    // A link appears with its content complete, and fails if the name exists.
    if (await succeeds(link(draft, path), 'EEXIST')) return;
    const holder = await read(path);
    if (holder && processIdentity(holder.pid) !== holder.identity) await removeStale(path, holder);
    else if (performance.now() - startedAt > DEADLINE_MS) throw new StartLockHeld(path, holder?.pid ?? 0);
    else await delay(RETRY_MS);
  }
};

/** Whether a path leads to an open file. Opens no file itself. */
const isAt = async (path: string, file: FileHandle): Promise<boolean> => {
  const own = await file.stat();
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return found?.ino === own.ino && found.dev === own.dev;
};

/**
 * Moves a stale lock aside and reads it again: it may be the fresh lock of another process that was quicker, which is
 * then put back.
 */
const removeStale = async (path: string, stale: Holder): Promise<void> => {
  const aside = `${path}.${randomUUID()}`;
  if (!(await succeeds(rename(path, aside), 'ENOENT'))) return;
  if ((await read(aside))?.token !== stale.token) await succeeds(link(aside, path), 'EEXIST');
  await rm(aside, { force: true });
};

const read = async (path: string): Promise<Holder | null> => {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Holder;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    // A lock is always complete when it is linked; a broken one was damaged by a crash of the machine, so its process
    // is gone.
    if (error instanceof SyntaxError) return { pid: 0, identity: 'damaged', token: 'damaged' };
    throw error;
  }
};

const succeeds = async (attempt: Promise<void>, expectedFailure: string): Promise<boolean> => {
  try {
    await attempt;
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === expectedFailure) return false;
    throw error;
  }
};
