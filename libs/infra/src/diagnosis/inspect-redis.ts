import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { RedisFault } from '../redis/index.js';

export type RedisState =
  | RedisFault
  | {
      readonly version: string;
      readonly isReplica: boolean;
      /** Null where the server does not say. */
      readonly evictionPolicy: string | null;
      /** Whether it writes an append-only file. */
      readonly isPersistent: boolean;
    };

const TIMEOUT_MS = 2_000;

/** What a Redis says of itself; changes nothing. One that hangs is waited for as long as a connection to it, and no longer. */
export const inspectRedis = async (url: string): Promise<RedisState> => {
  const [{ Redis }, { redisFaultOf }] = await Promise.all([import('ioredis'), import('../redis/index.js')]);
  const silence = new AbortController();
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: TIMEOUT_MS,
    commandTimeout: TIMEOUT_MS,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  let fault: Error | null = null;
  redis.on('error', (error: Error) => (fault ??= error));
  try {
    const facts = factsIn(await Promise.race([told(redis), silent(silence.signal)]));
    // Said of something that it goes on without, such as a database of that number.
    if (fault) return redisFaultOf(fault);
    return {
      version: facts.get('redis_version') ?? '',
      isReplica: facts.get('role') === 'slave',
      evictionPolicy: facts.get('maxmemory_policy') ?? null,
      isPersistent: facts.get('aof_enabled') === '1',
    };
  } catch (error) {
    return redisFaultOf(fault ?? (error as Error));
  } finally {
    silence.abort();
    redis.disconnect();
  }
};

const told = async (redis: Redis): Promise<string> => {
  await redis.connect();
  return redis.info();
};

/** Rejects when the time is over. */
const silent = async (over: AbortSignal): Promise<never> => {
  await delay(TIMEOUT_MS, undefined, { signal: over });
  throw new Error(`no answer within ${TIMEOUT_MS / 1_000} s`);
};

const factsIn = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split('\r\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );
