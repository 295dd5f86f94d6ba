import { randomBytes } from 'node:crypto';
import { link, open, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { CliError, explainFileError } from './cli-error.js';

/** File systems without links (FAT, some network mounts) answer so. */
const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP', 'EMLINK']);

/**
 * Writes a file, mode 0600, that appears under its name complete and on disk, or not at all. One that is there already is
 * never written over.
 * @throws {CliError} file_unusable @throws what `content` throws
 */
export const writeNewFile = async (path: string, content: AsyncIterable<Uint8Array | string>): Promise<void> => {
  if (await exists(path)) throw taken(path);
  if (!(await exists(dirname(path)))) throw withoutFolder(path);
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.unfinished`);
  try {
    const file = await explained(path, () => open(draft, 'wx', 0o600));
    try {
      for await (const chunk of content) await explained(path, () => file.writeFile(chunk));
      await explained(path, () => file.sync());
    } finally {
      await file.close();
    }
    await explained(path, () => publish(draft, path));
  } finally {
    await rm(draft, { force: true });
  }
};

const publish = async (draft: string, path: string): Promise<void> => {
  try {
    await link(draft, path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') throw taken(path);
    if (!NO_LINKS.has(code)) throw error;
    await rename(draft, path);
  }
  const folder = await open(dirname(path), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
};

const exists = async (path: string): Promise<boolean> => {
  try {
    await stat(path);
    return true;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return false;
    throw fileError(error, path) ?? error;
  }
};

const taken = (path: string): CliError =>
  new CliError('file_unusable', `${path} is there already and is left as it is. Name another file.`);

const withoutFolder = (path: string): CliError =>
  new CliError(
    'file_unusable',
    `${path} cannot be written: the folder ${dirname(path)} is not there. Make it, or name another one.`,
  );

/** What goes wrong with the draft is told of the name that was asked for. */
const explained = async <Result>(path: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw fileError(error, path) ?? error;
  }
};

const fileError = (error: unknown, path: string): CliError | null => {
  const known = error instanceof Error ? explainFileError(error, path) : null;
  return known && new CliError('file_unusable', known.message);
};
