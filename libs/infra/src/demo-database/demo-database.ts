import { createHmac } from 'node:crypto';
import { readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Logger } from '#libs/domain/kernel';
import type { Config } from '../config/index.js';
import {
  DatabaseClient,
  dataDirOf,
  type EmbeddedPostgres,
  ensureDatabase,
  isEmbeddedPostgresRunning,
  packagedPostgresVersion,
  startEmbeddedPostgres,
} from '../postgres/index.js';
import { AGENT_ROLE, seedDemo, WITNESS_ROLE } from './demo-schema.js';

const DATABASE = 'shop';
const HOST = '127.0.0.1';

export interface DatabaseLogin {
  readonly username: string;
  /** Never log it. */
  readonly password: string;
}

/** A PostgreSQL beside the service's own, with the tables of an invented shop: what agents may try themselves on. */
export interface DemoDatabase {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly agent: DatabaseLogin;
  readonly witness: DatabaseLogin;
  /** Whether this start has made the tables. */
  readonly isNew: boolean;
  /** As its superuser: what a person does who goes round the service. Contains the password, so never log it. */
  readonly ownerConnectionString: string;
  /** Stops using it. The last process that does so stops the server. */
  release(): Promise<void>;
}

type DemoSettings = Pick<Config, 'demo' | 'databaseUrl' | 'env'>;

/** Only where the service brings its own database, too: who has a PostgreSQL is not given a second one. */
export const isDemoWanted = ({ demo, databaseUrl, env }: DemoSettings): boolean =>
  demo === 'on' && databaseUrl === null && env === 'dev';

/**
 * Starts the demo database of a state directory, or shares one that runs there, and fills it if it is empty. Rows that
 * somebody has changed stay as they are.
 * @throws {EmbeddedPostgresError} when the server cannot run here; the message says what to do
 */
export const startDemoDatabase = async ({
  stateDir,
  log,
}: {
  readonly stateDir: string;
  readonly log: Logger;
}): Promise<DemoDatabase> => {
  await setAsideOtherVersion(stateDir, log);
  const server = await startEmbeddedPostgres({ stateDir, purpose: 'demo', log });
  try {
    return await filled(server, log);
  } catch (error) {
    await server.release();
    throw error;
  }
};

const filled = async (server: EmbeddedPostgres, log: Logger): Promise<DemoDatabase> => {
  const ownerConnectionString = server.connectionString(DATABASE);
  const { port, password } = new URL(ownerConnectionString);
  const passwords = { agent: rolePassword(password, AGENT_ROLE), witness: rolePassword(password, WITNESS_ROLE) };
  await ensureDatabase(ownerConnectionString, log);
  const client = new DatabaseClient({ connectionString: ownerConnectionString, application_name: 'ags demo' });
  await client.connect();
  try {
    const isNew = await seedDemo(client, passwords);
    if (isNew) log.info('demo database filled', { database: DATABASE, port: Number(port) });
    return {
      host: HOST,
      port: Number(port),
      database: DATABASE,
      agent: { username: AGENT_ROLE, password: passwords.agent },
      witness: { username: WITNESS_ROLE, password: passwords.witness },
      isNew,
      ownerConnectionString,
      release: () => server.release(),
    };
  } finally {
    await client.end();
  }
};

/** The same at every start, from the one secret that is kept in a file. It does not tell that secret. */
const rolePassword = (serverPassword: string, role: string): string =>
  createHmac('sha256', serverPassword).update(`demo role ${role}`).digest('base64url');

/**
 * Another major version cannot read its files. Its rows are invented, so the service does not wait for an operator: they
 * are moved aside, and a new demo takes their place.
 */
const setAsideOtherVersion = async (stateDir: string, log: Logger): Promise<void> => {
  const dataDir = await dataDirOf(stateDir, 'demo').catch(absent);
  if (dataDir === null) return;
  const version = (await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch(absent))?.trim();
  if (version === undefined || version === packagedPostgresVersion()) return;
  // A service of the other version may still run on it, and is then shared.
  if (await isEmbeddedPostgresRunning(stateDir, 'demo')) return;
  const aside = join(dirname(dataDir), `postgres-data-${version}-${Date.now()}`);
  // Another process that starts at this moment may have moved it already.
  await rename(dataDir, aside).catch(absent);
  log.warn('the demo database is of another PostgreSQL version: it was moved aside, and a new one is made', { aside });
};

const absent = (error: NodeJS.ErrnoException): null => {
  if (error.code === 'ENOENT') return null;
  throw error;
};
