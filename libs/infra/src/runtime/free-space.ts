import { statfs } from 'node:fs/promises';

const GIBIBYTE = 1024 ** 3;
const MEBIBYTE = 1024 ** 2;
/** Less than the first is a warning, less than the second a problem (rule OPS-4). */
export const LITTLE_SPACE_BYTES = 2 * GIBIBYTE;
export const SCARCE_SPACE_BYTES = 500 * MEBIBYTE;

/** The bytes that a user other than root can still use on the file system of a folder. */
export const freeBytesAt = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
};

/** A number of bytes for people to read. */
export const spaceText = (bytes: number): string =>
  bytes < GIBIBYTE ? `${Math.floor(bytes / MEBIBYTE)} MiB` : `${(bytes / GIBIBYTE).toFixed(1)} GiB`;
