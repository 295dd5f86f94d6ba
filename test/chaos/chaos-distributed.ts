import { ensureDatabase } from '#libs/infra/postgres';
import { KURRENT_UNDER_TEST, startKurrent } from '../support/kurrent-under-test.js';
import { startOwnServer } from '../support/own-server.js';
import { hasRedisServer, RedisServer } from '../support/redis-server.js';
import { silentLogger } from '../support/silent-logger.js';
import { ChaosFleet } from './chaos-fleet.js';
import { runChaos, type ChaosProgress, type ChaosResult } from './chaos-run.js';
import { FLEET_SETTINGS, REST_LIMIT_MS } from './chaos-scene.js';
import { killDatabase } from './chaos-service.js';
import { plansOf, type Store } from './faults.js';

const PROCESSES_EACH = 2;
const CALLS_PER_ROUND = 12;
const TOOL_TIMEOUT_MS = 5_000;
const MORE_AGENTS = 2;

/** So many kills in a fleet on stores of the run's own, gone when it ends. Without redis-server each process wakes itself. */
export const chaosOfFleet = async (
  seed: number,
  kills: number,
  onProgress: (progress: ChaosProgress) => void,
): Promise<ChaosResult> => {
  const closing: (() => Promise<unknown>)[] = [];
  try {
    const server = await startOwnServer();
    closing.unshift(() => server.dispose());
    const kurrent = await startKurrent();
    closing.unshift(() => kurrent.close());
    const redis = hasRedisServer() ? await RedisServer.start() : null;
    closing.unshift(() => redis?.stop() ?? Promise.resolve());
    const place = { connectionString: server.connectionString('service'), eventStoreUrl: kurrent.url };
    await ensureDatabase(place.connectionString, silentLogger);
    const killStore: Partial<Record<Store, () => Promise<void>>> = {
      database: () => killDatabase(server.stateDir),
      event_store: async () => {
        await kurrent.kill();
        await kurrent.start();
      },
      ...(redis && {
        redis: async () => {
          await redis.kill();
          await redis.start();
        },
      }),
    };
    const settings = {
      ...FLEET_SETTINGS,
      DATABASE_URL: place.connectionString,
      EVENT_STORE_URL: place.eventStoreUrl,
      ...(redis && { REDIS_URL: redis.url }),
    };
    const fleet = await ChaosFleet.start(settings, PROCESSES_EACH);
    closing.unshift(() => fleet.stop());
    return await runChaos(fleet, {
      seed,
      plans: plansOf(seed, kills, { stores: Object.keys(killStore) as Store[], processesEach: PROCESSES_EACH }),
      callsPerRound: CALLS_PER_ROUND,
      toolTimeoutMs: TOOL_TIMEOUT_MS,
      webhooks: ['steady', 'moody'],
      moreAgents: MORE_AGENTS,
      place,
      folders: [fleet.folder, server.stateDir],
      killStore,
      restLimitMs: REST_LIMIT_MS,
      onProgress,
    });
  } finally {
    for (const close of closing) await close();
  }
};

/** On which stores a fleet runs here, a line each. */
export const foundForFleet = (): readonly string[] => [
  `KurrentDB: ${KURRENT_UNDER_TEST}`,
  `Redis: ${hasRedisServer() ? 'redis-server' : 'redis-server is not on the PATH; each process wakes itself, and is never killed with Redis'}`,
];
