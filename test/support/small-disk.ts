import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether this user may mount a file system: root, with CAP_SYS_ADMIN. */
export const canMount = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'ags-mount-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder], { stdio: 'ignore' });
    execFileSync('umount', [folder]);
    return true;
  } catch (error) {
    return error === null;
  } finally {
    rmdirSync(folder);
  }
})();

const PIECE = Buffer.alloc(4 * 1024 ** 2);
/** Above what health and doctor call scarce, so that both call it well while nothing lies on it. */
const DISK_MIB = 720;

/** A file system of its own, which other users may pass through. */
export interface SmallDisk {
  readonly folder: string;
  /** To the last byte. */
  fill(): Promise<void>;
  /** Takes away again what filled it. */
  empty(): Promise<void>;
  /** When nobody has a file open there any more. */
  remove(): Promise<void>;
}

export const mountSmallDisk = async (): Promise<SmallDisk> => {
  const folder = await mkdtemp(join(tmpdir(), 'ags-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=711`, 'tmpfs', folder]);
  const filler = join(folder, 'filler');
  return {
    folder,
    fill: async () => {
      const file = await open(filler, 'w');
      try {
        for (;;) await file.write(PIECE);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        await file.close();
      }
    },
    empty: () => rm(filler, { force: true }),
    remove: async () => {
      execFileSync('umount', [folder]);
      await rm(folder, { recursive: true });
    },
  };
};
