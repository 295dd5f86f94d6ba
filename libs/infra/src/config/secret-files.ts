import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config } from './config.schema.js';

const SECRET_BYTES = 32;

/** The deployment's secrets could not be read. The message says what to do and holds nothing of them. */
export class SecretFileError extends Error {
  override readonly name = 'SecretFileError';
}

export interface SecretPaths {
  readonly vaultKey: string;
  readonly pepper: string;
}

/** Where the secrets lie: named by a setting (several machines), else in the state directory's `keys/`. */
export const secretPathsOf = (config: Config): SecretPaths => ({
  vaultKey: config.vaultKeyFile ?? join(config.stateDir, 'keys', 'vault.key'),
  pepper: config.pepperFile ?? join(config.stateDir, 'keys', 'pepper.key'),
});

/**
 * Makes the file with 32 random bytes, mode 0600, unless it exists. Of two racing makers one wins and both see its bytes:
 * the content is complete before the name appears.
 * @returns whether this call made it
 */
export const ensureSecretFile = async (path: string): Promise<boolean> => {
  if (await exists(path)) return false;
  const unfinished = join(dirname(path), `.${randomBytes(8).toString('hex')}.new`);
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await file.writeFile(randomBytes(SECRET_BYTES));
    await file.sync();
  } finally {
    await file.close();
  }
  try {
    await link(unfinished, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    await rm(unfinished, { force: true });
  }
};

/** @param paths one or more */
export const missingSecretFiles = (paths: readonly string[], options?: ErrorOptions): SecretFileError => {
  const [are, them, makes] = paths.length === 1 ? ['is', 'it', 'makes one'] : ['are', 'them', 'makes them'];
  return new SecretFileError(
    `${paths.join(' and ')} ${are} missing. Restore ${them} from your backup, or copy ${them} from another machine of this ` +
      `deployment; only a new deployment ${makes}, with \`npm run ags -- init\`.`,
    options,
  );
};

/** @throws {SecretFileError} missing, of another length, readable by others, or another user's */
export const readSecretFile = async (path: string): Promise<Buffer> => {
  if (!(await exists(path))) throw missingSecretFiles([path]);
  const { mode, uid } = await stat(path);
  if ((mode & 0o077) !== 0) throw new SecretFileError(`${path} is readable by others. Run chmod 0600 on it.`);
  if (!isOwnOrRoots(uid)) {
    const advice = 'Run this as that user. A new one in its place would open nothing that this one has sealed.';
    throw new SecretFileError(`${path} belongs to user ${uid}. ${advice}`);
  }
  const bytes = await readFile(path);
  if (bytes.byteLength === SECRET_BYTES) return bytes;
  throw new SecretFileError(`${path} must hold exactly ${SECRET_BYTES} bytes. Restore it from your backup.`);
};

/** A file that root has put there is as good as our own: root could read everything anyway. */
const isOwnOrRoots = (uid: number): boolean => uid === 0 || uid === (process.geteuid?.() ?? uid);

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
};
