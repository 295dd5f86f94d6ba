import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { startEmbeddedPostgres } from '../../libs/infra/src/postgres/embedded-server.js';
import { processIdentity } from '../../libs/infra/src/postgres/live-process.js';
import { READY_DATABASE } from './ready-database.js';
import { silentLogger } from './silent-logger.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** State directory of the run's PostgreSQL; nothing is in it before a spec asks for a database. */
    testStateDir: string;
  }
}

const PREFIX = 'ags-test-';
const OWNER_FILE = 'run.owner';

/**
 * One embedded PostgreSQL for the whole run. It starts with the first `createTestDatabase()`, so a run of unit tests never
 * waits for it, and is stopped and removed when the run ends. What a killed run left behind is removed by the next.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  for (const stateDir of abandonedRuns()) await remove(stateDir);
  const stateDir = await mkdtemp(join(tmpdir(), PREFIX));
  // The server has a user of its own under root and must pass through.
  if (process.getuid?.() === 0) await chmod(stateDir, 0o711);
  await writeFile(join(stateDir, OWNER_FILE), `${process.pid}\n${processIdentity(process.pid) ?? ''}`, { mode: 0o600 });
  project.provide('testStateDir', stateDir);
  process.env[READY_DATABASE] = join(stateDir, 'ready');
  return () => remove(stateDir);
}

const remove = async (stateDir: string): Promise<void> => {
  if (existsSync(join(stateDir, 'postgres'))) {
    // Adopted, so that letting go as its last user stops it.
    const server = await startEmbeddedPostgres({ stateDir, log: silentLogger });
    await server.release();
  }
  await rm(stateDir, { recursive: true, force: true });
};

const abandonedRuns = (): readonly string[] =>
  readdirSync(tmpdir())
    .filter((name) => name.startsWith(PREFIX))
    .map((name) => join(tmpdir(), name))
    .filter((stateDir) => {
      const [pid, identity] = ownerOf(stateDir);
      return identity !== undefined && processIdentity(Number(pid)) !== identity;
    });

/** Empty when the folder is another user's, or just being made. */
const ownerOf = (stateDir: string): readonly string[] => {
  try {
    return readFileSync(join(stateDir, OWNER_FILE), 'utf8').split('\n');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR') return [];
    throw error;
  }
};
