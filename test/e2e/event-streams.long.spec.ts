import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventStreamClient } from '../support/event-stream-client.js';
import { isAbout } from '../support/event-scene.js';
import { Fleet } from '../support/fleet.js';
import { hasRedisServer, NO_REDIS, RedisServer } from '../support/redis-server.js';

const DEADLINE_MS = 120_000;
const isThere = hasRedisServer();

describe.skipIf(!isThere)(`event streams of two apis, woken by Redis (${isThere ? 'redis-server' : NO_REDIS})`, () => {
  let redis: RedisServer;
  let fleet: Fleet;
  const streams: EventStreamClient[] = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    fleet = await Fleet.prepare({ REDIS_URL: redis.url });
    await fleet.start('projector', 1);
    await fleet.start('worker', 1);
    await fleet.start('api', 2);
    streams.push(...(await Promise.all(fleet.running('api').map(({ baseUrl }) => open(baseUrl)))));
  }, DEADLINE_MS);
  afterAll(async () => {
    for (const stream of streams) stream.close();
    await fleet?.stop();
    await redis?.stop();
  }, DEADLINE_MS);

  const open = async (baseUrl: string, query = ''): Promise<EventStreamClient> => {
    const stream = await EventStreamClient.open(baseUrl, { Authorization: `Bearer ${fleet.adminKey}` }, query);
    await stream.untilType('hello');
    return stream;
  };
  /** A call that the policy refuses, at either api: recorded and sealed when it is answered. */
  const act = async (): Promise<string> => {
    const body = { tool: 'nobody.nothing', args: {} };
    const { error } = await fleet.call('POST', '/v1/actions', { key: fleet.agentKey, body });
    return (error['action'] as { id: string }).id;
  };
  const expectTheSame = async (id: string): Promise<void> => {
    for (const stream of streams) await stream.until(3, isAbout(id));
    const [first, second] = streams.map((stream) => stream.events.map(({ type, data }) => [type, data['id']]));
    const begin = first!.findIndex(([, event]) => event === second![0]![1]);
    expect(first!.slice(Math.max(begin, 0))).toEqual(second);
    expect(streams.flatMap(({ types }) => types).filter((type) => type === 'resync')).toEqual([]);
  };

  it(
    'tell the same, whichever api took the call',
    async () => {
      for (let count = 0; count < 5; count += 1) await act();
      await expectTheSame(await act());
    },
    DEADLINE_MS,
  );

  it(
    'tell it all the same when Redis is gone: the bell is no more than a bell',
    async () => {
      redis.signal('SIGKILL');
      const id = await act();
      await expectTheSame(id);
      await redis.start();
    },
    DEADLINE_MS,
  );

  it(
    'know nothing of each other’s cursors',
    async () => {
      const cursor = streams[0]!.events.at(-1)!.id;
      const [first, second] = fleet.running('api');
      const [own, other] = [
        await open(first!.baseUrl, `last_event_id=${cursor}`),
        await open(second!.baseUrl, `last_event_id=${cursor}`),
      ];
      await other.untilType('resync');
      expect([own.hello['resumed'], other.hello['resumed'], other.messages[1]?.data['reason']]).toEqual([
        true,
        false,
        'other_instance',
      ]);
      own.close();
      other.close();
    },
    DEADLINE_MS,
  );

  it(
    'end with their api when it is told to stop, which takes no longer for them',
    async () => {
      const code = await fleet.replace(fleet.running('api')[0]!);
      expect(code).toBe(0);
      await streams[0]!.untilEnded();
      expect(streams[1]!.hasEnded).toBe(false);
    },
    DEADLINE_MS,
  );
});
