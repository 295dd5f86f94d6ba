import { setTimeout as delay } from 'node:timers/promises';
import { Redis, type RedisOptions } from 'ioredis';
import type { Logger } from '#libs/domain/kernel';
import { redisFaultOf } from './redis-fault.js';

export interface RedisEndpoint {
  /** `redis://` or `rediss://`, with user, password and database number where there are any. */
  readonly url: string;
  readonly log: Logger;
}

const CONNECT_TIMEOUT_MS = 5_000;
const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
/** A server that holds a command longer than this has hung, or is no longer there: the connection is given up. */
const SILENCE_TIMEOUT_MS = 15_000;
/** A server that hangs holds no process up that stops. */
const FAREWELL_MS = 500;

/**
 * Its silence is counted no longer than it lasts. ioredis goes on counting when a connection is lost over a command: the
 * next one would be cut for that silence, and a process that has closed everything kept from ending.
 */
class Connection extends Redis {
  constructor(options: RedisOptions, url?: string) {
    if (url === undefined) super(options);
    else super(url, options);
    this.on('close', () => {
      const counted = this as unknown as { socketTimeoutTimer?: NodeJS.Timeout | undefined };
      clearTimeout(counted.socketTimeoutTimer);
      counted.socketTimeoutTimer = undefined;
    });
  }

  /** BullMQ makes the one on which a worker waits from the one it is given. */
  override duplicate(override?: Partial<RedisOptions>): Redis {
    return new Connection({ ...this.options, ...override });
  }
}

/**
 * A connection that is made at its first command and made again for as long as it is needed. A server that turned into a
 * replica refuses writes (`READONLY`): behind the same name there is another one by now, so it is dialled again.
 *
 * @param role stands in `CLIENT LIST`, and in the log
 */
export const connectRedis = ({ url, log }: RedisEndpoint, role: string, options: RedisOptions = {}): Redis => {
  const settings: RedisOptions = {
    lazyConnect: true,
    // A name holds no space.
    connectionName: `ags:${role.replaceAll(' ', '-')}`,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: SILENCE_TIMEOUT_MS,
    retryStrategy: (times) => Math.min(FIRST_RETRY_MS * 2 ** Math.min(times, 10), LONGEST_RETRY_MS),
    reconnectOnError: ({ message }) => message.startsWith('READONLY'),
    ...options,
  };
  const redis = new Connection(settings, url);
  reportOutages(redis, role, log);
  return redis;
};

/** One line when it is lost and one when it is back, however often it was dialled in between. */
const reportOutages = (redis: Redis, role: string, log: Logger): void => {
  let isAway = false;
  redis.on('error', (error) => {
    if (isAway) return;
    isAway = true;
    const { fault, next } = redisFaultOf(error);
    const away = 'Redis is away; work goes on and is found by sweeps, a little later';
    log.warn(away, { connection: role, fault, next });
  });
  redis.on('ready', () => {
    if (isAway) log.info('Redis is back', { connection: role });
    isAway = false;
  });
};

/** Lets what was sent be answered, for a moment, then closes. */
export const closeRedis = async (redis: Redis): Promise<void> => {
  if (redis.status === 'ready')
    await atMost(
      FAREWELL_MS,
      redis.quit().catch(() => undefined),
    );
  redis.disconnect();
};

/** Waits for work that never fails, and no longer than that. */
export const atMost = async (limitMs: number, work: Promise<unknown>): Promise<void> => {
  const over = new AbortController();
  await Promise.race([work, delay(limitMs, undefined, { signal: over.signal }).catch(() => undefined)]);
  over.abort();
};
