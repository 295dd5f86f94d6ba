import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BackupEntry } from './backup-archive.js';

const PIECE_BYTES = 256 * 1024;
const CONTROL_FILE = 'global/pg_control';
const CONTROL_RETRY_MS = 10;

/** Whose content belongs to a running server; the folders themselves must be there (PostgreSQL, 'Making a Base Backup'). */
const EMPTIED = /^(?:pg_wal|pg_replslot|pg_dynshmem|pg_notify|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\//;
const KEPT_INSIDE = /^pg_wal\/(?:archive_status|summaries)$/;
const LEFT_OUT =
  /(?:^|\/)(?:pgsql_tmp[^/]*|pg_internal\.init[^/]*)$|^(?:postmaster\.(?:pid|opts)|backup_label(?:\.old)?)$/;

const isLeftOut = (name: string): boolean => LEFT_OUT.test(name) || (EMPTIED.test(name) && !KEPT_INSIDE.test(name));

/** Every folder of a data directory that a backup must hold, empty ones too, each after the one it is in. */
export const directoriesOf = async (dataDir: string): Promise<string[]> => {
  const names = await readdir(dataDir, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .filter((name) => !isLeftOut(name))
    .sort();
};

/**
 * The files of a data directory whose server may run on, pg_control last. One that is removed meanwhile is left out, and one
 * that is cut is filled with zeros: what happened to either is in the write-ahead log that is replayed over it.
 */
export const dataFiles = async function* (dataDir: string): AsyncGenerator<BackupEntry> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dataDir.length + 1))
    .filter((name) => name !== CONTROL_FILE && !isLeftOut(name));
  for (const name of names.sort()) {
    const file = await openIfThere(join(dataDir, name));
    if (file === null) continue;
    try {
      const { size: sizeBytes } = await file.stat();
      yield { name, sizeBytes, content: contentOf(file, sizeBytes) };
    } finally {
      await file.close();
    }
  }
  const control = await wholeControlFile(join(dataDir, CONTROL_FILE));
  yield { name: CONTROL_FILE, sizeBytes: control.byteLength, content: [control] };
};

const openIfThere = async (path: string): Promise<FileHandle | null> => {
  try {
    return await open(path, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
};

const contentOf = async function* (file: FileHandle, sizeBytes: number): AsyncGenerator<Buffer> {
  for (let position = 0; position < sizeBytes;) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, sizeBytes - position));
    const { bytesRead } = await file.read(piece, 0, piece.byteLength, position);
    // At the end of a file that was cut the piece stays zeros.
    const taken = bytesRead === 0 ? piece : piece.subarray(0, bytesRead);
    position += taken.byteLength;
    yield taken;
  }
};

/** It is the one file that no log repairs and that the server rewrites in place: read until two reads agree. */
const wholeControlFile = async (path: string): Promise<Buffer> => {
  for (let before = await readWhole(path); ;) {
    await delay(CONTROL_RETRY_MS);
    const after = await readWhole(path);
    if (after.equals(before)) return after;
    before = after;
  }
};

const readWhole = async (path: string): Promise<Buffer> => {
  const file = await open(path, 'r');
  try {
    return await file.readFile();
  } finally {
    await file.close();
  }
};
