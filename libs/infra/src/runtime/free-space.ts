import { statfs } from 'node:fs/promises';

const GIBIBYTE = 1024 ** 3;
const MEBIBYTE = 1024 ** 2;
/** A warning below the one, a problem below the other (rule OPS-4). */
export const LITTLE_SPACE_BYTES = 2 * GIBIBYTE;
export const SCARCE_SPACE_BYTES = 500 * MEBIBYTE;

/** What is free, to whoever is not root, on the file system that a folder lies on. */
export const freeBytesAt = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** As a person reads it. */
export const spaceText = (bytes: number): string =>
  bytes < GIBIBYTE ? `${Math.floor(bytes / MEBIBYTE)} MiB` : `${(bytes / GIBIBYTE).toFixed(1)} GiB`;
