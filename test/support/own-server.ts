import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '#libs/infra/postgres';
import { layReadyDatabase } from './ready-database.js';
import { silentLogger } from './silent-logger.js';

/** A PostgreSQL for one spec alone, which may therefore be killed. */
export interface OwnServer extends EmbeddedPostgres {
  /** Its files are in the folder `postgres` in it. */
  readonly stateDir: string;
  /** SIGQUIT, as by `pg_ctl -m immediate`: no farewell, recovery on the next start. Resolves when it answers again. */
  restart(): Promise<void>;
  /** As its administrator stops it: nobody starts it again before `start`. */
  stop(): Promise<void>;
  /** Again, with what is on its disk. */
  start(): Promise<void>;
  /** Stops it and removes its files. */
  dispose(): Promise<void>;
}

export const startOwnServer = async (): Promise<OwnServer> => {
  const stateDir = await mkdtemp(join(tmpdir(), 'ags-own-server-'));
  if (process.getuid?.() === 0) await chmod(stateDir, 0o711);
  await layReadyDatabase(stateDir);
  return ownServerIn(stateDir);
};

/** On a folder that may hold one already. */
export const ownServerIn = async (stateDir: string): Promise<OwnServer> => {
  let server = await startEmbeddedPostgres({ stateDir, log: silentLogger });
  const connectionString = (database: string): string => server.connectionString(database);
  return {
    stateDir,
    connectionString,
    release: () => server.release(),
    restart: async () => {
      const startedBefore = await startOf(connectionString('postgres'));
      process.kill(postmasterPidIn(stateDir), 'SIGQUIT');
      // Whoever holds the server starts it again.
      while ((await startOf(connectionString('postgres'))) === startedBefore) await delay(20);
    },
    stop: () => server.release(),
    start: async () => {
      server = await startEmbeddedPostgres({ stateDir, log: silentLogger });
    },
    dispose: async () => {
      await server.release();
      await rm(stateDir, { recursive: true, force: true });
    },
  };
};

export const postmasterPidIn = (stateDir: string): number =>
  Number(readFileSync(join(stateDir, 'postgres', 'postmaster.pid'), 'utf8').split('\n')[0]);

/** When the server started, by its own word; waits for one that is on its way. */
const startOf = async (connectionString: string): Promise<string> => {
  for (;;) {
    const client = new pg.Client({ connectionString });
    // A server that ends during the question shows in the rejected call.
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ started: string }>('select pg_postmaster_start_time()::text as started');
      return rows[0]?.started ?? '';
    } catch {
      await delay(20);
    } finally {
      await client.end();
    }
  }
};
