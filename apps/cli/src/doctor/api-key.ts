import { open } from 'node:fs/promises';
import { API_KEY_VARIABLE, givenApiKey } from '#libs/infra/config';
import { CliError, explainFileError } from '../cli-error.js';

/** Of one line, as a header can carry it. */
const KEY_PATTERN = /^[\x21-\x7e]{1,200}$/;

/**
 * The key of whoever asks: from a file, else from the environment. Null when none was given.
 * @throws {CliError} file_unusable, usage
 */
export const readApiKey = async (keyFile: string | undefined): Promise<string | null> => {
  if (keyFile === undefined) {
    const key = givenApiKey()?.trim() ?? '';
    if (key === '') return null;
    if (KEY_PATTERN.test(key)) return key;
    throw new CliError('usage', `${API_KEY_VARIABLE} does not hold one API key. Set it to the key alone, or unset it.`);
  }
  const key = (await textOf(keyFile)).trim();
  if (KEY_PATTERN.test(key)) return key;
  throw new CliError('file_unusable', `${keyFile} does not hold one API key. Put the key alone there and try again.`);
};

const textOf = async (path: string): Promise<string> => {
  try {
    const file = await open(path);
    try {
      const found = await file.stat();
      // What the shell hands over in place of a file has a mode that says nothing.
      if (found.isFile() && (found.mode & 0o077) !== 0) {
        throw new CliError('file_unusable', `${path} is readable by others. Run chmod 0600 on it and try again.`);
      }
      return await file.readFile('utf8');
    } finally {
      await file.close();
    }
  } catch (error) {
    const known = error instanceof Error ? explainFileError(error, path) : null;
    throw known ? new CliError('file_unusable', known.message) : error;
  }
};
