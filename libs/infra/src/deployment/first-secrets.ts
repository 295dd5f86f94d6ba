import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Prepared } from './prepare.js';

/** In the state directory: what a first start would otherwise print where others may read it, as in a collected log. */
export const FIRST_SECRETS_FILE = 'first-start-secrets';

/** Whether this start has made any. */
export const hasSecrets = ({ adminKey, agentKey, signInToken }: Prepared): boolean =>
  adminKey !== null || agentKey !== null || signInToken !== null;

/**
 * Adds to the file, mode 0600, and is on disk when it returns: no secret is shown a second time. What an interrupted first start
 * left in it stays.
 * @param lines as a terminal would show them
 * @returns where they are
 */
export const keepFirstSecrets = async (stateDir: string, lines: readonly string[]): Promise<string> => {
  const path = join(stateDir, FIRST_SECRETS_FILE);
  const file = await open(path, 'a', 0o600);
  try {
    await file.chmod(0o600);
    await file.writeFile(`${lines.join('\n')}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  return path;
};
