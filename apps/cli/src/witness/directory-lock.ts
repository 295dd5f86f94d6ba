import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, rename, rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';

/** The state directory cannot be held by this process. The message says what to do. */
export class DirectoryLockError extends Error {
  override readonly name = 'DirectoryLockError';
}

/** What a socket address has room for, on every system that Node runs on, with its zero. */
const MAX_SOCKET_PATH_BYTES = 103;
const LOCK = /^\.lock-[0-9a-f]{12}$/;

/** The holder of a directory has ended, and the system knows it: nobody listens any more. */
const ENDED: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT']);

/**
 * Lets one process at a time have a directory. The lock is a socket file on which the holder listens, so the system itself
 * says whether the holder lives: no number of a process that another one may have got since, and nothing is left to remove
 * after kill -9. A name is given to a socket only when it listens and is never used again, so a socket that nobody answers
 * on is one for ever. Of two that start at once, each looks after it can be seen: at least one sees the other, and both may
 * give way. It does not reach over a network file system: one machine has the directory.
 */
export class DirectoryLock {
  private constructor(
    private readonly server: Server,
    private readonly path: string,
  ) {}

  /** @throws {DirectoryLockError} */
  static async take(directory: string): Promise<DirectoryLock> {
    const name = `.lock-${randomBytes(6).toString('hex')}`;
    const path = join(directory, name);
    const unseen = `${path}.new`;
    if (Buffer.byteLength(unseen) > MAX_SOCKET_PATH_BYTES) {
      throw new DirectoryLockError(`The path ${directory} is too long for a socket. Name a shorter one.`);
    }
    const server = createServer((visitor) => visitor.on('error', () => undefined).destroy());
    server.unref();
    server.listen(unseen);
    await once(server, 'listening');
    await rename(unseen, path);
    const lock = new DirectoryLock(server, path);
    try {
      await refuseOthers(directory, name);
    } catch (error) {
      await lock.release();
      throw error;
    }
    return lock;
  }

  async release(): Promise<void> {
    await rm(this.path, { force: true });
    await new Promise<void>((resolve) => this.server.close(() => resolve()));
  }
}

const refuseOthers = async (directory: string, own: string): Promise<void> => {
  for (const name of await readdir(directory)) {
    if (!LOCK.test(name) || name === own) continue;
    const path = join(directory, name);
    if (await isHeld(path)) {
      throw new DirectoryLockError(
        `Another witness runs on ${directory}. End that one first, or give this one a directory and a key of its own ` +
          '(npm run ags -- witness init).',
      );
    }
    await rm(path, { force: true });
  }
};

const isHeld = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const visit = connect(path);
    visit.once('connect', () => {
      visit.destroy();
      resolve(true);
    });
    // An error of another kind does not say that nobody is there.
    visit.once('error', (error: NodeJS.ErrnoException) => resolve(!ENDED.has(error.code)));
  });
