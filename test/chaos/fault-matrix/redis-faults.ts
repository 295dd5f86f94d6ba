import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, it, vi } from 'vitest';
import { startRedisEcho } from '../../support/redis-echo.js';
import { hasRedisServer, NO_REDIS } from '../../support/redis-server.js';
import type { FaultReport } from '../fault-stage.js';
import { chanceOf } from '../random.js';
import { DEADLINE_MS, expectHeld, expectNoneRefused, lasts, PATIENCE, type StageOf } from './expectations.js';

const REDIS_LATENCY_MS = 5_000;
/** Two workers, each on the queues of executions and of webhooks. */
const WAITING = 4;

/** Redis costs time alone. */
export const redisFaults = (stage: StageOf): void => {
  describe.skipIf(!hasRedisServer())(`F-09: Redis (${hasRedisServer() ? 'redis-server' : NO_REDIS})`, () => {
    /** Redis costs time alone; and each worker waits for jobs again. */
    const expectOnlyLater = async (fault: string, report: FaultReport): Promise<void> => {
      expectHeld(fault, report);
      expectNoneRefused(report);
      await vi.waitFor(async () => expect(await told((client) => blocked(client))).toBe(WAITING), PATIENCE);
    };
    const told = async <Result>(run: (client: Redis) => Promise<Result>): Promise<Result> => {
      const client = new Redis(stage().on.redis!.url);
      return run(client).finally(() => client.quit());
    };
    /** Connections on which somebody waits for a job. */
    const blocked = async (client: Redis): Promise<number> =>
      String(await client.call('CLIENT', 'LIST'))
        .split('\n')
        .filter((line) => /\bcmd=bzpopmin\b/.test(line) && /\bflags=b/.test(line)).length;

    it(
      `F-09: restarts, forgets everything, takes no more, turns into a replica, and is away for ${lasts.redisDown / 1_000} s`,
      async () => {
        const redis = stage().on.redis!;
        const report = await stage().under(109, async () => {
          await redis.kill();
          await redis.start();
          await delay(500);
          await told((client) => client.flushall());
          await delay(500);
          await told((client) => client.config('SET', 'maxmemory', '1', 'maxmemory-policy', 'noeviction'));
          await delay(1_000);
          await told((client) => client.config('SET', 'maxmemory', '0'));
          await told((client) => client.replicaof('127.0.0.1', '1'));
          await delay(1_000);
          await told((client) => client.replicaof('NO', 'ONE'));
          await redis.kill();
          await delay(lasts.redisDown);
          await redis.start();
        });
        await expectOnlyLater('F-09', report);
      },
      DEADLINE_MS,
    );

    it(
      `F-09: answers ${REDIS_LATENCY_MS / 1_000} s later than it should for ${lasts.redisSlow / 1_000} s`,
      async () => {
        const report = await stage().under(129, async () => {
          stage().on.to.redis!.slow(REDIS_LATENCY_MS);
          await delay(lasts.redisSlow);
          stage().on.to.redis!.slow(0);
        });
        await expectOnlyLater('F-09, slow', report);
      },
      DEADLINE_MS,
    );

    it(
      'F-18: every job and every message comes ten times, in another order',
      async () => {
        const report = await stage().under(118, async () => {
          const echo = await startRedisEcho({ port: stage().on.redis!.port, times: 9, chance: chanceOf(118) });
          const heard = (): number => Math.min(echo.heard.jobs, echo.heard.messages);
          await vi.waitFor(() => expect(heard()).toBeGreaterThan(10), PATIENCE).finally(() => echo.close());
        });
        await expectOnlyLater('F-18', report);
      },
      DEADLINE_MS,
    );
  });
};
