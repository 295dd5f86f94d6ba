const FILE_FAULTS: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'something else has that name',
  EACCES: 'access is denied',
  EPERM: 'it belongs to another user',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left',
  EDQUOT: 'no space is left for this user',
  EFBIG: 'it grew larger than a file may be there',
  EIO: 'the disk failed',
};

/** Node's codes for a disk on which nothing more can be written. */
const FULL_DISK: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT']);

export const isFullDisk = (code: string): boolean => FULL_DISK.has(code);

/** Node's word for what is wrong with a file, as a part of a sentence. Undefined for any other code. */
export const fileFaultOf = (code: string): string | undefined => FILE_FAULTS[code];
