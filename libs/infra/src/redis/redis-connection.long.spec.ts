import { afterEach, describe, expect, it, vi } from 'vitest';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { hasRedisServer, NO_REDIS, RedisServer } from '../../../../test/support/redis-server.js';
import { connectRedis } from './redis-connection.js';

describe.skipIf(!hasRedisServer())(`a connection to Redis (${hasRedisServer() ? 'redis-server' : NO_REDIS})`, () => {
  afterEach(() => vi.useRealTimers());

  it('leaves nothing that is counted where it is lost over a command', async () => {
    const server = await RedisServer.start();
    const redis = connectRedis({ url: server.url, log: collectingLogger() }, 'test').duplicate({
      maxRetriesPerRequest: 0,
      retryStrategy: () => null,
    });
    redis.on('error', () => undefined);
    await redis.ping();
    server.signal('SIGSTOP');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const lost = new Promise((resolve) => redis.once('end', resolve));
    const asked = redis.ping().catch(() => undefined);
    expect(vi.getTimerCount()).toBe(1);
    await server.kill();
    await Promise.all([lost, asked]);

    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    await server.stop();
  }, 20_000);

  it('that is refused says so once, and what to do', async () => {
    const server = await RedisServer.start('--requirepass', 'secret');
    const log = collectingLogger();
    const redis = connectRedis({ url: server.url.replace('//', '//:wrong@'), log }, 'test');
    const refusals = vi.fn();
    redis.on('error', refusals);
    await redis.connect().catch(() => undefined);
    await vi.waitFor(() => expect(refusals.mock.calls.length).toBeGreaterThan(1), { timeout: 10_000 });
    redis.disconnect();
    await server.stop();

    expect(log.warnings).toMatchObject([
      {
        connection: 'test',
        fault: expect.stringMatching(/^Redis refuses the login \(WRONGPASS/) as string,
        next: expect.stringContaining('Put the user and the password') as string,
      },
    ]);
  });

  it('is known to the server by its role', async () => {
    const server = await RedisServer.start();
    const redis = connectRedis({ url: server.url, log: collectingLogger() }, 'jobs producer');
    await redis.ping();
    expect(await redis.client('LIST')).toContain(' name=ags:jobs-producer ');
    redis.disconnect();
    await server.stop();
  });
});
