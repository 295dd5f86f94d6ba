import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GOOD_CERTIFICATE } from '../../../../test/support/certificates.js';
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
      expect(await inspectRedis(url)).toMatchObject({
        version: expect.stringMatching(/^\d+\.\d+\.\d+$/) as string,
        isReplica: false,
        evictionPolicy: 'noeviction',
        isPersistent: true,
      });
    });

    it.each([
      ['the password is wrong', ':wrong@', '', 'refuses the login (WRONGPASS', 'Put the user and the password'],
      ['it is missing', '', '', 'refuses the login (NOAUTH', 'Put the user and the password'],
      ['there is no such database', ':secret@', '/99', 'does not have the database', 'End REDIS_URL in the number'],
    ])('is a fault where %s, with what to do', async (_title, userinfo, path, fault, next) => {
      const url = server.url.replace('redis://', `redis://${userinfo}`) + path;
      expect(await inspectRedis(url)).toMatchObject({
        fault: expect.stringContaining(fault) as string,
        next: expect.stringContaining(next) as string,
      });
    });

    it('is a fault where it has not answered for two seconds', async () => {
      server.signal('SIGSTOP');
      const askedAt = performance.now();
      // The server goes on when there is an answer, and not before.
      const state = await inspectRedis(server.url.replace('redis://', 'redis://:secret@')).finally(() =>
        server.signal('SIGCONT'),
      );
      expect(state).toMatchObject({ fault: 'Redis does not answer (no answer within 2 s)' });
      expect(performance.now() - askedAt).toBeLessThan(20_000);
    });
  },
);

describe('what a Redis that cannot be asked says of itself', () => {
  it('is a fault, with what to do', async () => {
    expect(await inspectRedis('redis://127.0.0.1:1')).toMatchObject({
      fault: 'Redis does not answer (ECONNREFUSED)',
      next: expect.stringContaining('Look at REDIS_URL') as string,
    });
  });

  it('is another one where nobody here trusts its certificate', async () => {
    const server = createServer(GOOD_CERTIFICATE);
    server.on('tlsClientError', () => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const state = await inspectRedis(`rediss://127.0.0.1:${port}`);
    await new Promise((resolve) => server.close(resolve));
    expect(state).toMatchObject({
      fault: expect.stringMatching(/certificate that is not trusted here \([A-Z_]+\)$/) as string,
      next: expect.stringContaining('NODE_EXTRA_CA_CERTS') as string,
    });
  });
});
