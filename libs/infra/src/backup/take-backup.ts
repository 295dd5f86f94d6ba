import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#libs/domain/kernel';
import { EMBEDDED_DATABASE, readSecretFile, secretPathsOf, type Config } from '../config/index.js';
import { startEmbeddedPostgres } from '../postgres/index.js';
import { BackupError } from './backup-error.js';
import { writeArchive, type BackupEntry } from './backup-archive.js';
import { manifestOf, type BackupManifest } from './backup-manifest.js';
import { BaseBackup, type BackupEnd } from './base-backup.js';
import { dataFiles, directoriesOf } from './data-directory.js';
import { readLogHead } from './ledger-heads.js';

const ADMIN_DATABASE = 'postgres';

export interface TakenBackup {
  readonly manifest: BackupManifest;
  /** The file's bytes. The backup is under way until they were taken, or let go of. */
  readonly content: AsyncIterable<Uint8Array>;
}

export interface BackupOptions {
  readonly version: string;
  readonly createdAt: string;
  readonly log: Logger;
  readonly onProgress: (bytes: number) => void;
  /** Throws where the work must end early. */
  readonly mayGoOn: () => void;
}

/**
 * A backup of an embedded deployment, taken while it runs or not: its database as PostgreSQL backs itself up, its password
 * and the key files. Runs `work` with it; the database is let go of when that has ended.
 * @throws {BackupError} {SecretFileError} {EmbeddedPostgresError} {StoreUnavailable}
 */
export const withBackup = async <Result>(
  config: Config,
  options: BackupOptions,
  work: (backup: TakenBackup) => Promise<Result>,
): Promise<Result> => {
  const { stateDir } = config;
  const secrets = await secretEntries(config);
  const embedded = await startEmbeddedPostgres({ stateDir, log: options.log });
  try {
    const { head, ledgers } = await readLogHead(embedded.connectionString(EMBEDDED_DATABASE));
    const session = await BaseBackup.begin(embedded.connectionString(ADMIN_DATABASE));
    try {
      const dataDir = join(stateDir, 'postgres');
      const manifest = manifestOf({
        created_at: options.createdAt,
        version: options.version,
        postgres: (await readFile(join(dataDir, 'PG_VERSION'), 'utf8')).trim(),
        platform: `${process.platform}-${process.arch}`,
        head,
        ledgers,
        directories: await directoriesOf(dataDir),
      });
      const entries = entriesOf(manifest, secrets, dataDir, session);
      return await work({ manifest, content: writeArchive(watched(entries, options)) });
    } finally {
      await session.close();
    }
  } finally {
    await embedded.release();
  }
};

const entry = (name: string, bytes: Buffer): BackupEntry => ({ name, sizeBytes: bytes.byteLength, content: [bytes] });

/** Wherever the settings say that they lie, a restored deployment finds them in its own folder. */
const secretEntries = async (config: Config): Promise<BackupEntry[]> => {
  const { vaultKey, pepper } = secretPathsOf(config);
  return [
    entry('keys/vault.key', await readSecretFile(vaultKey)),
    entry('keys/pepper.key', await readSecretFile(pepper)),
    entry('postgres.password', await readFile(join(config.stateDir, 'postgres.password'))),
  ];
};

const entriesOf = async function* (
  manifest: BackupManifest,
  secrets: readonly BackupEntry[],
  dataDir: string,
  session: BaseBackup,
): AsyncGenerator<BackupEntry> {
  yield entry('manifest.json', Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`));
  yield* secrets;
  for await (const file of dataFiles(dataDir)) yield { ...file, name: `postgres/${file.name}` };
  yield* endEntries(await session.end(), dataDir);
};

/** The slot keeps the segments until the session ends, which is after this. */
const endEntries = async function* ({ label, segments }: BackupEnd, dataDir: string): AsyncGenerator<BackupEntry> {
  for (const name of segments) {
    const bytes = await readFile(join(dataDir, 'pg_wal', name)).catch((error: unknown) => {
      throw new BackupError(`The database has removed its log ${name} already. Take the backup again.`, {
        cause: error,
      });
    });
    yield entry(`postgres/pg_wal/${name}`, bytes);
  }
  yield entry('postgres/backup_label', Buffer.from(label));
};

const watched = async function* (
  entries: AsyncIterable<BackupEntry>,
  { onProgress, mayGoOn }: BackupOptions,
): AsyncGenerator<BackupEntry> {
  let bytes = 0;
  for await (const each of entries) {
    mayGoOn();
    yield each;
    onProgress((bytes += each.sizeBytes));
  }
};
