import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * The steps by which a file becomes another one for good. Each does one thing and no more, so that a test can end the
 * process, or the power, between any two. What was renamed lasts only once `syncFolder` has answered; until then it may be
 * gone after a loss of power, and nobody may have seen it.
 */
export interface StateFiles {
  /** Null where there is none. */
  read(name: string): Promise<Uint8Array | null>;
  /** A new file in place of any that is there. It need not be on disk. */
  write(name: string, bytes: Uint8Array): Promise<void>;
  /** The bytes of the file are on disk. */
  sync(name: string): Promise<void>;
  /** In one step, over whatever had the name. */
  rename(from: string, to: string): Promise<void>;
  /** What was renamed is on disk. */
  syncFolder(): Promise<void>;
}

/** Nobody else reads what a witness keeps. */
const FILE_MODE = 0o600;

/** One folder of a local file system. Names are given by the program, never by a request. */
export class StateFolder implements StateFiles {
  constructor(private readonly folder: string) {}

  async read(name: string): Promise<Uint8Array | null> {
    try {
      return await readFile(join(this.folder, name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }

  async write(name: string, bytes: Uint8Array): Promise<void> {
    // What failed to reach the disk once is not written to again: a kernel says so one time only.
    await rm(join(this.folder, name), { force: true });
    const file = await open(join(this.folder, name), 'wx', FILE_MODE);
    try {
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
  }

  sync(name: string): Promise<void> {
    return this.#synced(join(this.folder, name), 'r+');
  }

  rename(from: string, to: string): Promise<void> {
    return rename(join(this.folder, from), join(this.folder, to));
  }

  syncFolder(): Promise<void> {
    return this.#synced(this.folder, 'r');
  }

  async #synced(path: string, flags: string): Promise<void> {
    const file = await open(path, flags);
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }
}
