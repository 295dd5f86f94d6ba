import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { busContract } from '../../../../test/contracts/bus.contract.js';
import { collectingLogger } from '../../../../test/support/collecting-logger.js';
import { hasRedisServer, NO_REDIS, RedisServer } from '../../../../test/support/redis-server.js';
import { RedisBus } from './redis-bus.js';

const PATIENCE = { timeout: 15_000 };

describe.skipIf(!hasRedisServer())(`a bus on Redis (${hasRedisServer() ? 'redis-server' : NO_REDIS})`, () => {
  let server: RedisServer;
  const buses: RedisBus[] = [];
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterEach(() => Promise.all(buses.splice(0).map((bus) => bus.close())));
  afterAll(() => server.stop());

  const busOf = (keyspace: string, log = collectingLogger()): RedisBus => {
    const bus = new RedisBus({ url: server.url, log, keyspace });
    buses.push(bus);
    return bus;
  };
  /** Resolves when one hears what the other publishes. */
  const hears = async (one: RedisBus, other: RedisBus): Promise<void> => {
    const heard = vi.fn();
    const leave = one.subscribe('probe', heard);
    await vi.waitFor(() => {
      other.publish('probe', '');
      expect(heard).toHaveBeenCalled();
    }, PATIENCE);
    leave();
  };
  /** Two processes of one deployment. */
  const pair = async (logHere = collectingLogger()): Promise<readonly [RedisBus, RedisBus]> => {
    const keyspace = randomUUID();
    const [here, there] = [busOf(keyspace, logHere), busOf(keyspace)];
    await hears(here, there);
    await hears(there, here);
    return [here, there];
  };

  busContract('Redis, one process', () => {
    const log = collectingLogger();
    const bus = busOf(randomUUID(), log);
    return Promise.resolve({ bus, reported: log.errors, close: () => Promise.resolve() });
  });

  it('is heard by another process, once and in order', async () => {
    const [here, there] = await pair();
    const [own, other] = [vi.fn(), vi.fn()];
    here.subscribe('action:a', own);
    there.subscribe('action:a', other);
    const elsewhere = vi.fn();
    there.subscribe('action:b', elsewhere);
    for (const message of ['1', '', 'ünï 🦊']) here.publish('action:a', message);
    await vi.waitFor(() => expect(other.mock.calls).toEqual([['1'], [''], ['ünï 🦊']]), PATIENCE);
    expect(own.mock.calls).toEqual(other.mock.calls);
    expect(elsewhere).not.toHaveBeenCalled();
  });

  it('is not heard by another deployment', async () => {
    const [here, there] = await pair();
    const [stranger] = await pair();
    const theirs = vi.fn();
    stranger.subscribe('action:a', theirs);
    const heard = vi.fn();
    there.subscribe('action:a', heard);
    here.publish('action:a', 'x');
    await vi.waitFor(() => expect(heard).toHaveBeenCalledTimes(1), PATIENCE);
    expect(theirs).not.toHaveBeenCalled();
  });

  it('hears nothing in what others write there', async () => {
    const keyspace = randomUUID();
    const [bus, neighbour] = [busOf(keyspace), busOf(keyspace)];
    await hears(bus, neighbour);
    const heard = vi.fn();
    bus.subscribe('action:a', heard);
    const writer = new Redis(server.url);
    for (const text of ['{', '[]', '["a","action:a",1]', '{"channel":"action:a"}', 'null']) {
      await writer.publish(`${keyspace}:bus`, text);
    }
    await writer.quit();
    neighbour.publish('action:a', 'last');
    await vi.waitFor(() => expect(heard.mock.calls).toEqual([['last']]), PATIENCE);
  });

  it('tells its own process while Redis is away, says so once, and is heard elsewhere again when it is back', async () => {
    const log = collectingLogger();
    const [here, there] = await pair(log);
    const [own, other] = [vi.fn(), vi.fn()];
    here.subscribe('action:a', own);
    there.subscribe('action:a', other);
    await server.kill();
    // Each connection notices by itself, and only while nobody answers.
    await vi.waitFor(() => expect(log.warnings).toHaveLength(2), PATIENCE);
    here.publish('action:a', 'alone');
    await vi.waitFor(() => expect(own).toHaveBeenCalledWith('alone'), PATIENCE);
    expect(other).not.toHaveBeenCalled();
    await server.start();
    await vi.waitFor(() => {
      here.publish('action:a', 'back');
      expect(other).toHaveBeenCalledWith('back');
    }, PATIENCE);
    const connections = log.warnings.map(({ connection }) => connection);
    expect(connections.toSorted()).toEqual(['bus publisher', 'bus subscriber']);
  });

  it('notices a server that hangs, and hears again when it answers', async () => {
    const log = collectingLogger();
    const [there, here] = await pair(log);
    const other = vi.fn();
    there.subscribe('action:a', other);
    server.signal('SIGSTOP');
    try {
      await vi.waitFor(() => {
        expect(log.warnings.map(({ connection }) => connection)).toContain('bus subscriber');
      }, PATIENCE);
    } finally {
      server.signal('SIGCONT');
    }
    await vi.waitFor(() => {
      here.publish('action:a', 'back');
      expect(other).toHaveBeenCalledWith('back');
    }, PATIENCE);
  }, 40_000);
});
