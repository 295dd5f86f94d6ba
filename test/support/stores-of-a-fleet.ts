import { KURRENT_UNDER_TEST, startKurrent } from './kurrent-under-test.js';
import { hasRedisServer, NO_REDIS, RedisServer } from './redis-server.js';

/** What a deployment stands on beside its PostgreSQL, and the end of it. */
export interface Stores {
  readonly env: Readonly<Record<string, string>>;
  /** Of the event store; null where it is PostgreSQL. */
  readonly eventStoreUrl: string | null;
  close(): Promise<void>;
}

const onPostgresAlone = (): Promise<Stores> =>
  Promise.resolve({ env: {}, eventStoreUrl: null, close: () => Promise.resolve() });

const onKurrentAndRedis = async (): Promise<Stores> => {
  const [kurrent, redis] = await Promise.all([startKurrent(), RedisServer.start()]);
  return {
    env: { EVENT_STORE_URL: kurrent.url, REDIS_URL: redis.url },
    eventStoreUrl: kurrent.url,
    close: async () => void (await Promise.all([kurrent.close(), redis.stop()])),
  };
};

const IS_REDIS_THERE = hasRedisServer();

/** Both ways to deploy, for tests whose several processes must do the same on each. */
export const STANDS = [
  { stand: 'PostgreSQL alone', isThere: true, open: onPostgresAlone },
  {
    stand: `${KURRENT_UNDER_TEST}, and Redis${IS_REDIS_THERE ? '' : ` (${NO_REDIS})`}`,
    isThere: IS_REDIS_THERE,
    open: onKurrentAndRedis,
  },
] as const;
