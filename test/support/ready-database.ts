import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { initializeDataDirectory } from '../../libs/infra/src/postgres/server-process.js';
import { prepareServerSite } from '../../libs/infra/src/postgres/server-site.js';
import { withStartLock } from '../../libs/infra/src/postgres/start-lock.js';

/** Set by a run of the tests for its workers: the state directory whose data directory is copied. Elsewhere it is not set. */
export const READY_DATABASE = 'AGS_TEST_READY_DATABASE';

/**
 * Lays into an empty state directory what a first start would have `initdb` make, as a copy of what it made once in this
 * run: a third of the time, seventy times a run. For tests to which the first start of a database is no matter; outside of
 * a run of the tests nothing happens.
 */
export const layReadyDatabase = async (stateDir: string): Promise<void> => {
  const template = process.env[READY_DATABASE];
  if (template === undefined) return;
  const dataDir = join(template, 'postgres');
  if (!existsSync(dataDir)) {
    const site = await prepareServerSite(template);
    await withStartLock(site.startLock, () => initializeDataDirectory(site));
  }
  // With its owner: under root the database is another user's.
  await promisify(execFile)('cp', ['-Rp', dataDir, join(template, 'postgres.password'), stateDir]);
};
