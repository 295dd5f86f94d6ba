import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { LOG_CHANNEL } from '#libs/domain/kernel';
import { connectCrm } from '../support/crm.js';
import { Fleet } from '../support/fleet.js';
import { hasRedisServer, NO_REDIS, RedisServer } from '../support/redis-server.js';
import { runAgs } from '../support/run-ags.js';
import type { Answer } from '../support/service.js';
import { upToDate } from '../support/up-to-date.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DEADLINE_MS = 120_000;
const PATIENCE = { timeout: 30_000, interval: 50 };
/** The longest there is: an agent that waits for a sweep gives up waiting. */
const NO_SWEEPS = { SERVICE_SWEEP_INTERVAL_MS: '60000' };
const SWEEPS = { SERVICE_SWEEP_INTERVAL_MS: '500', SERVICE_EXECUTOR_SILENCE_MS: '5000' };

const isThere = hasRedisServer();

describe.skipIf(!isThere)(`two of each program, woken by Redis (${isThere ? 'redis-server' : NO_REDIS})`, () => {
  let redis: RedisServer;
  let fleet: Fleet;
  let upstream: Upstream;
  /** Answers of the upstream that wait to be let go; null once they have been. */
  let held: (() => void)[] | null = [];

  beforeAll(async () => {
    redis = await RedisServer.start();
    fleet = await Fleet.prepare({ REDIS_URL: redis.url });
    upstream = await startUpstream(({ path }, response) => {
      const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
      if (path.includes('/killed-') && held !== null) held.push(answer);
      else answer();
    });
    await fleet.start('projector', 2);
    await fleet.start('worker', 2, NO_SWEEPS);
    await fleet.start('api', 2);
    await connectCrm(fleet, upstream.baseUrl);
  }, DEADLINE_MS);
  afterAll(async () => {
    await fleet?.stop();
    await upstream?.close();
    await redis?.stop();
  }, DEADLINE_MS);

  const write = (effect: string): Promise<Answer> =>
    fleet.call('POST', '/v1/actions', {
      key: fleet.agentKey,
      body: { tool: 'crm.add_note', args: { id: effect, text: 'x' }, wait: 25 },
    });
  const writeAll = (prefix: string, count: number): Promise<readonly Answer[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => write(`${prefix}-${index}`)));
  const sent = (prefix: string): readonly string[] =>
    upstream.seen.map(({ path }) => path).filter((path) => path.includes(`/${prefix}-`));
  /** Each exactly once. */
  const expectSentOnce = (prefix: string, count: number): void => {
    expect(sent(prefix)).toHaveLength(count);
    expect(new Set(sent(prefix)).size).toBe(count);
  };
  const states = (answers: readonly Answer[]): readonly unknown[] => [
    ...new Set(answers.map(({ status, json }) => `${status} ${String(json['state'])}`)),
  ];

  it(
    'what one accepts another executes at once, each call exactly once',
    async () => {
      expect(states(await writeAll('at-once', 30))).toEqual(['200 sealed']);
      expectSentOnce('at-once', 30);
      const list = await upToDate(() => fleet.call('GET', '/v1/actions?limit=100', { key: fleet.adminKey }));
      expect((list.json['data'] as unknown[]).length).toBeGreaterThanOrEqual(30);
    },
    DEADLINE_MS,
  );

  it(
    'what a projector writes is sent to a webhook by a job, and again when an api rings for it',
    async () => {
      const { id } = (
        await fleet.call('POST', '/v1/webhooks', {
          key: fleet.adminKey,
          body: { url: `${upstream.baseUrl}/hooks`, events: ['action.decided'] },
        })
      ).json;
      const path = `/v1/webhooks/${String(id)}`;
      const heard = () => upstream.seen.filter((request) => request.path === '/hooks');
      const delivered = async (times: number): Promise<void> => {
        await vi.waitFor(async () => {
          expect(heard()).toHaveLength(times);
          const { json } = await fleet.call('GET', `${path}/deliveries`, { key: fleet.adminKey });
          expect(json['data']).toMatchObject([{ status: 'delivered', attempt: 1 }]);
        }, PATIENCE);
      };
      await write('hooked');
      await delivered(1);
      const event = heard()[0]?.headers['service-event-id'];
      await fleet.call('POST', `${path}/redeliver`, { key: fleet.adminKey, body: { event } });
      await delivered(2);
      await fleet.call('DELETE', path, { key: fleet.adminKey });
    },
    DEADLINE_MS,
  );

  it(
    'whoever appends to a log in PostgreSQL tells the others, who would look five times a second',
    async () => {
      const client = new Redis(redis.url);
      const rung = new Promise<void>((resolve) => {
        client.on('pmessage', (_pattern, _topic, text: string) => {
          if ((JSON.parse(text) as readonly string[])[1] === LOG_CHANNEL) resolve();
        });
      });
      await client.psubscribe('ags:*:bus');
      expect(states(await writeAll('told', 1))).toEqual(['200 sealed']);
      await rung;
      await client.quit();
    },
    DEADLINE_MS,
  );

  it(
    'goes on without Redis by sweeps, and with it again when it is back (F-09)',
    async () => {
      await fleet.end('worker', 'SIGTERM');
      await fleet.start('worker', 2, SWEEPS);
      await redis.kill();
      expect(states(await writeAll('without', 10))).toEqual(['200 sealed']);
      expectSentOnce('without', 10);
      await redis.start();
      expect(states(await writeAll('with', 10))).toEqual(['200 sealed']);
      expectSentOnce('with', 10);
      const log = fleet.processes.map(({ output }) => output).join('\n');
      expect(log).toMatch(/level=warn .*Redis is away/);
      expect(log).not.toMatch(/level=error/);
    },
    DEADLINE_MS,
  );

  it(
    'loses nothing when everything in Redis is deleted while calls are under way (F-09)',
    async () => {
      const client = new Redis(redis.url);
      const writing = writeAll('flushed', 40);
      for (let turn = 0; turn < 10; turn += 1) await client.flushall();
      expect(states(await writing)).toEqual(['200 sealed']);
      expectSentOnce('flushed', 40);
      await client.quit();
    },
    DEADLINE_MS,
  );

  it(
    'a worker and a projector that are killed are replaced by those that are left (F-01)',
    async () => {
      const victims = [fleet.running('worker')[0]!, fleet.running('projector')[0]!];
      const writing = writeAll('killed', 20);
      await vi.waitFor(() => expect(held).toHaveLength(20), PATIENCE);
      await Promise.all(victims.map((process) => process.end('SIGKILL')));
      const waiting = held ?? [];
      held = null;
      for (const answer of waiting) answer();
      const answers = await writing;
      for (const { status } of answers) expect([200, 202]).toContain(status);
      await vi.waitFor(async () => {
        const list = await fleet.call('GET', '/v1/actions?limit=20', { key: fleet.adminKey });
        const rows = list.json['data'] as readonly { readonly state: string }[];
        expect([...new Set(rows.map(({ state }) => state))]).toEqual(['sealed']);
        expect(list.headers.get('service-projection-lag')).toBeNull();
      }, PATIENCE);
      expectSentOnce('killed', 20);
      const check = await fleet.call('GET', '/v1/ledger/check?last=1000', { key: fleet.adminKey });
      expect(check.json).toMatchObject({ result: 'intact', reason: null });
    },
    DEADLINE_MS,
  );

  it(
    'a stop that was answered holds at every api',
    async () => {
      const stopped = await runAgs(['agents', 'stop', fleet.agent, '--json'], { env: fleet.environment });
      expect(stopped.code).toBe(0);
      const refused = await writeAll('stopped', 4);
      for (const { status, error } of refused)
        expect({ status, code: error['code'] }).toEqual({ status: 403, code: 'agent_stopped' });
      expect(sent('stopped')).toEqual([]);
    },
    DEADLINE_MS,
  );

  it(
    'each ends by itself when it is told to, with Redis or without',
    async () => {
      const [first, ...others] = fleet.processes.filter((process) => process.isRunning);
      expect(await first?.end('SIGTERM')).toBe(0);
      await redis.kill();
      expect(await Promise.all(others.map((process) => process.end('SIGTERM')))).toEqual(others.map(() => 0));
    },
    DEADLINE_MS,
  );
});
