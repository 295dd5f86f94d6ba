export type RedisState =
  | { readonly fault: string }
  | {
      readonly version: string;
      readonly isReplica: boolean;
      /** Null where the server does not say. */
      readonly evictionPolicy: string | null;
      /** Whether it writes an append-only file. */
      readonly isPersistent: boolean;
    };

const TIMEOUT_MS = 2_000;

/** What a Redis says of itself; changes nothing. */
export const inspectRedis = async (url: string): Promise<RedisState> => {
  const { Redis } = await import('ioredis');
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
    await redis.connect();
    const facts = factsIn(await redis.info());
    return {
      version: facts.get('redis_version') ?? '',
      isReplica: facts.get('role') === 'slave',
      evictionPolicy: facts.get('maxmemory_policy') ?? null,
      isPersistent: facts.get('aof_enabled') === '1',
    };
  } catch (error) {
    const { code, message } = (fault ?? error) as NodeJS.ErrnoException;
    return { fault: code ?? message };
  } finally {
    redis.disconnect();
  }
};

const factsIn = (info: string): ReadonlyMap<string, string> =>
  new Map(
    info.split('\r\n').flatMap((line) => {
      const at = line.indexOf(':');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
    }),
  );
