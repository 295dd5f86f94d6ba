import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chown, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '#libs/domain/kernel';
import { EMBEDDED_DATABASE, leavingNoFolders, makeOwnStateDirectory, prepareStateDirectory } from '../config/index.js';
import {
  packagedPostgresVersion,
  serverAccountFor,
  startEmbeddedPostgres,
  type ServerAccount,
} from '../postgres/index.js';
import { readArchive, type BackupEntry } from './backup-archive.js';
import { BackupError, damaged } from './backup-error.js';
import { readManifest, type BackupManifest } from './backup-manifest.js';
import { readLogHead, type LogHead } from './ledger-heads.js';
import { writeRestoredMark } from './restored-mark.js';

/** A mounted file system has one of its own. */
const NOTHING = new Set(['lost+found']);
const SECRETS = new Set(['keys/vault.key', 'keys/pepper.key', 'postgres.password']);
const DATABASE = 'postgres/';
const MANIFEST_MAX_BYTES = 16 * 1024 * 1024;

export interface RestoreOptions {
  readonly file: string;
  /** Empty, or not there yet. */
  readonly stateDir: string;
  readonly restoredAt: string;
  readonly log: Logger;
  readonly onProgress: (bytes: number) => void;
  /** Throws where the work must end early. */
  readonly mayGoOn: () => void;
}

export interface Restored extends LogHead {
  readonly manifest: BackupManifest;
}

/**
 * Puts a backup in place. Everything is read and its checksum compared before anything has its name, the database last: what
 * is interrupted leaves no deployment. Then the database is started once, which completes its recovery.
 * @throws {BackupError}
 */
export const restoreBackup = async (options: RestoreOptions): Promise<Restored> => {
  const manifest = await leavingNoFolders(options.stateDir, () => putInPlace(options));
  await prepareStateDirectory(options.stateDir);
  return { manifest, ...(await recovered(options, manifest)) };
};

const putInPlace = async (options: RestoreOptions): Promise<BackupManifest> => {
  const { stateDir } = options;
  await makeOwnStateDirectory(stateDir);
  await requireEmpty(stateDir);
  const draft = join(stateDir, `.restore-${randomBytes(6).toString('hex')}`);
  const account = await serverAccountFor(join(stateDir, 'postgres'));
  try {
    const manifest = await unpack(options, draft, account);
    await writeRestoredMark(draft, {
      restored_at: options.restoredAt,
      created_at: manifest.created_at,
      ledgers: manifest.ledgers,
    });
    for (const name of ['restored.json', 'keys', 'postgres.password', 'postgres']) {
      await rename(join(draft, name), join(stateDir, name));
    }
    return manifest;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

const requireEmpty = async (stateDir: string): Promise<void> => {
  const names = (await readdir(stateDir)).filter((name) => !NOTHING.has(name));
  if (names.length === 0) return;
  throw new BackupError(
    `${stateDir} is not empty. Set SERVICE_STATE_DIR to a folder that is empty or not there yet, or move away what is in it.`,
  );
};

const unpack = async (
  { file, onProgress, mayGoOn }: RestoreOptions,
  draft: string,
  account: ServerAccount | null,
): Promise<BackupManifest> => {
  await mkdir(draft, { mode: account === null ? 0o700 : 0o711 });
  let manifest: BackupManifest | null = null;
  let bytes = 0;
  const seen = new Set<string>();
  for await (const entry of readArchive(createReadStream(file))) {
    mayGoOn();
    if (manifest === null) {
      manifest = readManifest(await smallContent(entry));
      requireReadable(manifest);
      await makeFolders(draft, manifest, account);
    } else {
      if (!SECRETS.has(entry.name) && !entry.name.startsWith(DATABASE)) throw damaged('it holds what no backup holds');
      const owner = entry.name.startsWith(DATABASE) ? account : null;
      await writeEntry(join(draft, entry.name), entry, owner, SECRETS.has(entry.name));
      seen.add(entry.name);
    }
    onProgress((bytes += entry.sizeBytes));
  }
  const isWhole = [...SECRETS, 'postgres/PG_VERSION', 'postgres/backup_label'].every((name) => seen.has(name));
  if (manifest === null || !isWhole) throw damaged('a part is missing');
  return manifest;
};

const smallContent = async ({ name, sizeBytes, content }: BackupEntry): Promise<Buffer> => {
  if (name !== 'manifest.json' || sizeBytes > MANIFEST_MAX_BYTES) throw damaged('it has no manifest');
  const pieces: Buffer[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
};

const requireReadable = ({ postgres, platform }: BackupManifest): void => {
  const own = { postgres: packagedPostgresVersion(), platform: `${process.platform}-${process.arch}` };
  if (postgres === own.postgres && platform === own.platform) return;
  throw new BackupError(
    `The backup holds a PostgreSQL ${postgres} of ${platform}, and here is PostgreSQL ${own.postgres} on ${own.platform}. ` +
      'Restore it with the version of the service, and on the platform, that it was taken with.',
  );
};

const makeFolders = async (
  draft: string,
  { directories }: BackupManifest,
  account: ServerAccount | null,
): Promise<void> => {
  await mkdir(join(draft, 'keys'), { mode: 0o700 });
  for (const name of ['', ...directories]) {
    if (!/^[\w./-]*$/.test(name) || name.includes('..')) throw damaged('it holds what no backup holds');
    const folder = join(draft, DATABASE, name);
    await mkdir(folder, { mode: 0o700 });
    if (account) await chown(folder, account.uid, account.gid);
  }
};

/** The server writes its own files to disk before it recovers; the others are nobody else's business. */
const writeEntry = async (
  path: string,
  { content }: BackupEntry,
  owner: ServerAccount | null,
  isSynced: boolean,
): Promise<void> => {
  // A folder that was made while the backup was taken is in no list.
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  if (owner) await chown(dirname(path), owner.uid, owner.gid);
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const piece of content) await file.writeFile(piece);
    if (isSynced) await file.sync();
    if (owner) await file.chown(owner.uid, owner.gid);
  } finally {
    await file.close();
  }
};

const recovered = async ({ stateDir, log }: RestoreOptions, { head }: BackupManifest): Promise<LogHead> => {
  const embedded = await startEmbeddedPostgres({ stateDir, log });
  try {
    const found = await readLogHead(embedded.connectionString(EMBEDDED_DATABASE));
    if (found.head >= head) return found;
    throw new BackupError(
      `The restored log ends at position ${found.head}, and the backup was taken at ${head} or later. Use another backup.`,
    );
  } finally {
    await embedded.release();
  }
};
