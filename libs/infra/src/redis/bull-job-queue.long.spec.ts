import { randomUUID } from 'node:crypto';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { JobConsumer } from '#libs/domain/kernel';
import { jobQueueContract } from '../../../../test/contracts/job-queue.contract.js';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { hasRedisServer, NO_REDIS, RedisServer } from '../../../../test/support/redis-server.js';
import { BullJobQueue, JobQueueUnavailable } from './bull-job-queue.js';

const PATIENCE = { timeout: 20_000 };
/** A command is waited for one second, a close for two, and a server that says nothing is given up after 15. */
const LONG_BEFORE_GIVEN_UP_MS = 10_000;
/** Shorter than by itself, where a worker is to be replaced. */
const WATCH_INTERVAL_MS = 300;

describe.skipIf(!hasRedisServer())(`jobs on Redis (${hasRedisServer() ? 'redis-server' : NO_REDIS})`, () => {
  let server: RedisServer;
  const open: { close(): Promise<void> }[] = [];
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close();
  });
  afterAll(() => server.stop());

  const queueOf = (keyspace: string, log = collectingLogger(), watchIntervalMs?: number): BullJobQueue => {
    const queue = new BullJobQueue({ url: server.url, log, keyspace, ...(watchIntervalMs && { watchIntervalMs }) });
    open.push(queue);
    return queue;
  };
  const consumed = (queue: BullJobQueue, given: string[]): JobConsumer => {
    const consumer = queue.process('execute', 4, (id) => Promise.resolve(void given.push(id)));
    open.push(consumer);
    return consumer;
  };
  /** Adds one after the other until one of them arrives, as sweeps do. */
  const arrivesAgain = async (queue: BullJobQueue, given: readonly string[]): Promise<void> => {
    let turn = 0;
    await vi.waitFor(async () => {
      await queue.add('execute', `again ${(turn += 1)}`).catch(() => undefined);
      expect(given.some((id) => id.startsWith('again'))).toBe(true);
    }, PATIENCE);
  };

  jobQueueContract('Redis', () => {
    const log = collectingLogger();
    const queue = new BullJobQueue({ url: server.url, log, keyspace: randomUUID() });
    return Promise.resolve({ queue, reported: log.errors, close: () => queue.close() });
  });

  it('hands a job from one process to another, and not to another deployment', async () => {
    const keyspace = randomUUID();
    const given: string[] = [];
    consumed(queueOf(randomUUID()), given);
    await queueOf(keyspace).add('execute', 'a');
    const theirs: string[] = [];
    consumed(queueOf(keyspace), theirs);
    await vi.waitFor(() => expect(theirs).toEqual(['a']), PATIENCE);
    expect(given).toEqual([]);
  });

  it('counts what waits, and keeps nothing of what is over', async () => {
    const keyspace = randomUUID();
    const queue = queueOf(keyspace);
    for (const id of ['a', 'b', 'c']) await queue.add('execute', id);
    expect(await queue.depth()).toBe(3);
    const given: string[] = [];
    consumed(queue, given);
    await vi.waitFor(async () => expect(await queue.depth()).toBe(0), PATIENCE);
    const redis = new Redis(server.url);
    open.push({ close: async () => void (await redis.quit()) });
    await vi.waitFor(async () => {
      const left = await redis.keys(`${keyspace}*`);
      expect(left.filter((key) => !/:(?:meta|id|events|stalled-check|marker)$/.test(key))).toEqual([]);
    }, PATIENCE);
  });

  it('begins when a Redis comes that was not there at the start, with the worker it has', async () => {
    const log = collectingLogger();
    const given: string[] = [];
    await server.kill();
    const queue = queueOf(randomUUID(), log);
    consumed(queue, given);
    await expect(queue.add('execute', 'lost')).rejects.toThrow(JobQueueUnavailable);
    await server.start();
    await arrivesAgain(queue, given);
    expect(log.warnings).not.toContainEqual({ queue: 'execute' });
  }, 40_000);

  it('goes on after Redis was killed and started again', async () => {
    const log = collectingLogger();
    const queue = queueOf(randomUUID(), log);
    const given: string[] = [];
    consumed(queue, given);
    await queue.add('execute', 'before');
    await vi.waitFor(() => expect(given).toEqual(['before']), PATIENCE);
    await server.kill();
    await vi.waitFor(() => expect(log.warnings.length).toBeGreaterThan(0), PATIENCE);
    await expect(queue.add('execute', 'lost')).rejects.toThrow(JobQueueUnavailable);
    await expect(queue.depth()).rejects.toThrow(JobQueueUnavailable);
    await server.start();
    await arrivesAgain(queue, given);
    expect(given).not.toContain('lost');
  }, 40_000);

  it('goes on after everything in Redis was deleted, with a job under way', async () => {
    const queue = queueOf(randomUUID());
    const given: string[] = [];
    let finish = (): void => undefined;
    const consumer = queue.process('execute', 2, (id) => {
      given.push(id);
      return id === 'long' ? new Promise((resolve) => (finish = resolve)) : Promise.resolve();
    });
    open.push(consumer);
    await queue.add('execute', 'long');
    await vi.waitFor(() => expect(given).toEqual(['long']), PATIENCE);
    const redis = new Redis(server.url);
    await redis.flushall();
    await redis.quit();
    finish();
    await arrivesAgain(queue, given);
  }, 40_000);

  it('says that a server hangs long before it is given up', async () => {
    const queue = queueOf(randomUUID());
    const given: string[] = [];
    consumed(queue, given);
    await queue.add('execute', 'before');
    server.signal('SIGSTOP');
    try {
      const askedAt = performance.now();
      await expect(queue.add('execute', 'late')).rejects.toThrow(JobQueueUnavailable);
      expect(performance.now() - askedAt).toBeLessThan(LONG_BEFORE_GIVEN_UP_MS);
    } finally {
      server.signal('SIGCONT');
    }
    await arrivesAgain(queue, given);
  }, 40_000);

  it('closes while a server hangs, long before it is given up', async () => {
    const queue = queueOf(randomUUID());
    const given: string[] = [];
    const consumer = consumed(queue, given);
    await queue.add('execute', 'before');
    await vi.waitFor(() => expect(given).toEqual(['before']), PATIENCE);
    server.signal('SIGSTOP');
    try {
      const toldAt = performance.now();
      await consumer.close();
      await queue.close();
      expect(performance.now() - toldAt).toBeLessThan(LONG_BEFORE_GIVEN_UP_MS);
    } finally {
      server.signal('SIGCONT');
    }
  }, 40_000);

  it('dials again where the server turned into a replica, and says that the job was not taken', async () => {
    const queue = queueOf(randomUUID());
    await queue.add('execute', 'before');
    const redis = new Redis(server.url);
    open.push({ close: async () => void (await redis.quit()) });
    await redis.replicaof('127.0.0.1', 1);
    try {
      await vi.waitFor(() => expect(queue.add('execute', 'refused')).rejects.toThrow(JobQueueUnavailable), PATIENCE);
    } finally {
      await redis.replicaof('NO', 'ONE');
    }
    const given: string[] = [];
    consumed(queue, given);
    await arrivesAgain(queue, given);
  }, 40_000);

  it('says that a job was not taken where the memory of the server is full, and goes on when it is not any more', async () => {
    const queue = queueOf(randomUUID());
    await queue.add('execute', 'before');
    const redis = new Redis(server.url);
    open.push({ close: async () => void (await redis.quit()) });
    await redis.config('SET', 'maxmemory', '1');
    await expect(queue.add('execute', 'refused')).rejects.toThrow(JobQueueUnavailable);
    await redis.config('SET', 'maxmemory', '0');
    const given: string[] = [];
    consumed(queue, given);
    await arrivesAgain(queue, given);
    expect(given).not.toContain('refused');
  }, 40_000);

  it('passes over what is no job of ours', async () => {
    const log = collectingLogger();
    const keyspace = randomUUID();
    const queue = queueOf(keyspace, log);
    const given: string[] = [];
    consumed(queue, given);
    const connection = new Redis(server.url);
    open.push({ close: async () => void (await connection.quit()) });
    const foreign = new Queue('execute', { connection, prefix: `${keyspace}:jobs` });
    for (const data of [{}, { id: 7 }, 'text', null]) await foreign.add('execute', data);
    await arrivesAgain(queue, given);
    expect(given.every((id) => id.startsWith('again'))).toBe(true);
    expect(log.errors).toEqual([]);
  });

  describe('replaces a worker that takes nothing while jobs wait', () => {
    const log = collectingLogger();
    const given: string[] = [];
    let queue: BullJobQueue;
    beforeEach(async () => {
      log.warnings.length = 0;
      given.length = 0;
      const keyspace = randomUUID();
      queue = queueOf(keyspace, log, WATCH_INTERVAL_MS);
      consumed(queue, given);
      await queue.add('execute', 'before');
      await vi.waitFor(() => expect(given).toEqual(['before']), PATIENCE);
      // A job without the marker that wakes workers: what they see of one whose marker was lost.
      const redis = new Redis(server.url);
      open.push({ close: async () => void (await redis.quit()) });
      const jobs = `${keyspace}:jobs:execute`;
      const job = { name: 'execute', data: '{"id":"unseen"}', opts: '{"attempts":1}', timestamp: '1', priority: '0' };
      await redis.multi().hset(`${jobs}:900`, job).lpush(`${jobs}:wait`, '900').exec();
    });

    it('by a new one', async () => {
      await vi.waitFor(() => expect(given).toEqual(['before', 'unseen']), PATIENCE);
      expect(log.warnings).toEqual([{ queue: 'execute' }]);
      await queue.add('execute', 'after');
      await vi.waitFor(() => expect(given).toEqual(['before', 'unseen', 'after']), PATIENCE);
    }, 40_000);

    it('by one at most, however often a server was asked that hung', async () => {
      server.signal('SIGSTOP');
      try {
        // Two seconds, in which it could be asked six times.
        for (const id of ['late', 'later']) await expect(queue.add('execute', id)).rejects.toThrow(JobQueueUnavailable);
      } finally {
        server.signal('SIGCONT');
      }
      await vi.waitFor(() => expect(given).toContain('unseen'), PATIENCE);
      expect(log.warnings.filter((line) => 'queue' in line).length).toBeLessThan(2);
    }, 40_000);
  });
});
