import { type EventStorePlace, openEventStore, type OpenedEventStore } from '#libs/infra/event-store';
import { ensureDatabase } from '#libs/infra/postgres';
import { KurrentProgram, kurrentProgram } from '../support/kurrent-program.js';
import { startOwnServer } from '../support/own-server.js';
import { hasRedisServer, RedisServer } from '../support/redis-server.js';
import { silentLogger } from '../support/silent-logger.js';
import { say } from './figure.js';
import type { Profile } from './profile.js';

/** What a fleet of the bench's own runs on. */
export interface BenchStores {
  /** Of the database `service`. */
  readonly connectionString: string;
  /** Of another database of the same server. */
  connectionStringOf(database: string): string;
  /** Null where the log lies in PostgreSQL. */
  readonly eventStoreUrl: string | null;
  /** As the programs take them. */
  readonly settings: Readonly<Record<string, string>>;
  /** The folder in which PostgreSQL has its files. */
  readonly stateDir: string;
  /** Server processes beside PostgreSQL, by name. */
  readonly beside: readonly { readonly name: string; readonly pid: number }[];
  close(): Promise<void>;
}

/** Whatever of the profile this machine has; what it has not is said. */
export const openBenchStores = async (profile: Profile): Promise<BenchStores> => {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const one of closing) await one();
  };
  try {
    const server = await startOwnServer();
    closing.unshift(() => server.dispose());
    const connectionString = server.connectionString('service');
    await ensureDatabase(connectionString, silentLogger);
    const kurrent = profile === 'distributed' ? await kurrentIfThere() : null;
    if (kurrent) closing.unshift(() => kurrent.stop());
    const redis = profile === 'distributed' ? await redisIfThere() : null;
    if (redis) closing.unshift(() => redis.stop());
    return {
      connectionString,
      connectionStringOf: (database) => server.connectionString(database),
      eventStoreUrl: kurrent?.url ?? null,
      settings: {
        DATABASE_URL: connectionString,
        ...(kurrent && { EVENT_STORE_URL: kurrent.url }),
        ...(redis && { REDIS_URL: redis.url }),
      },
      stateDir: server.stateDir,
      beside: [
        ...(kurrent ? [{ name: 'KurrentDB', pid: kurrent.pid }] : []),
        ...(redis ? [{ name: 'Redis', pid: redis.pid }] : []),
      ],
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

/** So much at once takes its time on a busy machine. */
const DEADLINE_MS = 120_000;

/** For whoever fills it. */
export const openBenchLog = (place: EventStorePlace): OpenedEventStore =>
  openEventStore(place, {
    applicationName: 'ags bench',
    log: silentLogger,
    deadlineMs: DEADLINE_MS,
    onConnectionLost: ({ message }) => say(`a connection was lost: ${message}`),
  });

const kurrentIfThere = async (): Promise<KurrentProgram | null> => {
  const program = kurrentProgram();
  if (program !== null) return KurrentProgram.start(program);
  say('KURRENTDB_PROGRAM names no server: the log of the distributed profile lies in PostgreSQL');
  return null;
};

const redisIfThere = async (): Promise<RedisServer | null> => {
  if (hasRedisServer()) return RedisServer.start();
  say('redis-server is not on the PATH: each process of the distributed profile wakes only itself');
  return null;
};
