import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasRedisServer, NO_REDIS, RedisServer } from '../../../../test/support/redis-server.js';
import { inspectRedis } from './inspect-redis.js';

describe.skipIf(!hasRedisServer())(
  `what a Redis says of itself (${hasRedisServer() ? 'redis-server' : NO_REDIS})`,
  () => {
    let server: RedisServer;
    beforeAll(async () => {
      server = await RedisServer.start('--appendonly', 'yes', '--requirepass', 'secret');
    });
    afterAll(() => server.stop());

    it('is its version, its role and what it keeps', async () => {
      const url = server.url.replace('redis://', 'redis://:secret@');
      expect(await inspectRedis(url)).toEqual({
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
        isReplica: false,
        evictionPolicy: 'noeviction',
        isPersistent: true,
      });
    });

    it('is a fault where the password is wrong, missing, or nobody answers', async () => {
      const wrong = await inspectRedis(server.url.replace('redis://', 'redis://:wrong@'));
      expect(wrong).toEqual({ fault: expect.stringContaining('WRONGPASS') as string });
      expect(await inspectRedis(server.url)).toEqual({ fault: expect.stringContaining('NOAUTH') as string });
      expect(await inspectRedis('redis://127.0.0.1:1')).toEqual({ fault: 'ECONNREFUSED' });
    });
  },
);
