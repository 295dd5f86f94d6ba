import { chmod } from 'node:fs/promises';

export const isRoot = process.getuid?.() === 0;

/** Whom root becomes: the user `nobody` of every Linux and macOS that PostgreSQL could run as. */
export const STRANGER = 65_534;

/**
 * Runs `work` as a user who may not look into the folder: root as another one, anybody else without the right. Only the
 * files that are opened meanwhile notice; what `work` needs of its own must be loaded already.
 */
export const asStranger = async <Result>(folder: string, work: () => Promise<Result>): Promise<Result> => {
  await chmod(folder, isRoot ? 0o700 : 0);
  if (isRoot) process.seteuid?.(STRANGER);
  try {
    return await work();
  } finally {
    if (isRoot) process.seteuid?.(0);
    await chmod(folder, 0o700);
  }
};
