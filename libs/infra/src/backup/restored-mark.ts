import { open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { inStateDirectory } from '../config/index.js';
import { RestoreNotConfirmed } from './backup-error.js';
import type { LedgerHead } from './backup-manifest.js';

/**
 * Lies in a restored state directory until somebody has decided: what was sealed after the backup is not in it, and
 * sealing on would give numbers out again that others hold already (rule DEED-14).
 */
export interface RestoredMark {
  readonly restored_at: string;
  readonly created_at: string;
  readonly ledgers: readonly LedgerHead[];
}

const pathOf = (stateDir: string): string => join(stateDir, 'restored.json');

export const writeRestoredMark = async (folder: string, mark: RestoredMark): Promise<void> => {
  const file = await open(pathOf(folder), 'wx', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(mark, null, 2)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Null where nothing waits for a decision. @throws {StateDirectoryError} this user may not look */
export const readRestoredMark = (stateDir: string): Promise<RestoredMark | null> =>
  inStateDirectory(stateDir, async () => {
    try {
      return JSON.parse(await readFile(pathOf(stateDir), 'utf8')) as RestoredMark;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ENOTDIR') return null;
      throw error;
    }
  });

export const removeRestoredMark = async (stateDir: string): Promise<void> => {
  await rm(pathOf(stateDir), { force: true });
};

/** Before anything seals, or appends to the log. @throws {RestoreNotConfirmed} nobody has decided yet */
export const requireSettledRestore = async (stateDir: string): Promise<void> => {
  const mark = await readRestoredMark(stateDir);
  if (mark === null) return;
  throw new RestoreNotConfirmed(
    `${stateDir} was restored from a backup of ${mark.created_at}, and deeds that were sealed after it are not there. ` +
      'Nothing is changed or sealed until you have decided: run `npm run ags -- confirm-restore --help`.',
  );
};
