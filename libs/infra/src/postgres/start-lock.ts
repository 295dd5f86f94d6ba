import { randomUUID } from 'node:crypto';
import { link, open, readFile, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { processIdentity } from './live-process.js';

const RETRY_MS = 25;
const DEADLINE_MS = 120_000;

interface Holder {
  readonly pid: number;
  readonly identity: string;
  /** Makes each taking unlike every other, so that a holder removes its own lock only. */
  readonly token: string;
}

/** Another live process keeps the lock. */
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
 * Runs `body` while a file names this process. A lock whose process has ended is taken over. It serializes starting and
 * stopping and guards no data: PostgreSQL itself refuses a second server on one data directory.
 *
 * @throws {StartLockHeld} after two minutes
 */
export const withStartLock = async <Result>(path: string, body: () => Promise<Result>): Promise<Result> => {
  const mine: Holder = { pid: process.pid, identity: processIdentity(process.pid) ?? '', token: randomUUID() };
  const draft = `${path}.${mine.token}`;
  // Open until the lock is let go: by then this process may be out of files to open, and would keep it for ever.
  const file = await open(draft, 'wx', 0o600);
  try {
    try {
      await file.writeFile(JSON.stringify(mine)).catch((error: unknown) => {
        // Of an open file Node names no path.
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
    // A link appears with its content complete, and fails when the name is taken.
    if (await succeeds(link(draft, path), 'EEXIST')) return;
    const holder = await read(path);
    if (holder && processIdentity(holder.pid) !== holder.identity) await removeStale(path, holder);
    else if (performance.now() - startedAt > DEADLINE_MS) throw new StartLockHeld(path, holder?.pid ?? 0);
    else await delay(RETRY_MS);
  }
};

/** Whether a name leads to an open file. Opens none. */
const isAt = async (path: string, file: FileHandle): Promise<boolean> => {
  const own = await file.stat();
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  return found?.ino === own.ino && found.dev === own.dev;
};

/** Moves the lock away and looks again: what was moved may be the fresh lock of another process that was quicker. */
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
    // A lock is linked complete; anything else was damaged by a crash of the machine and belongs to nobody alive.
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
