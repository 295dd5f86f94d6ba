import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectCrm } from '../support/crm.js';
import { Fleet } from '../support/fleet.js';
import { LoadBalancer, type BalancedAnswer } from '../support/load-balancer.js';
import { hasRedisServer, NO_REDIS, RedisServer } from '../support/redis-server.js';
import { runAgs } from '../support/run-ags.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DEADLINE_MS = 240_000;
const CLIENTS = 3;
/** Between two calls of a client: they are to meet every moment of a replacement, not to keep the processors from it. */
const PACE_MS = 25;
/** A busy machine may be late with a probe: many times its interval. */
const SETTINGS = { SERVICE_DRAIN_DELAY_MS: '3000', SERVICE_SWEEP_INTERVAL_MS: '500' };

const isThere = hasRedisServer();

describe(`a fleet behind a load balancer (${isThere ? 'woken by redis-server' : NO_REDIS})`, () => {
  let redis: RedisServer | null = null;
  let fleet: Fleet;
  let upstream: Upstream;
  let balancer: LoadBalancer;

  beforeAll(async () => {
    redis = isThere ? await RedisServer.start() : null;
    fleet = await Fleet.prepare({ ...SETTINGS, ...(redis === null ? {} : { REDIS_URL: redis.url }) });
    upstream = await startUpstream();
    await fleet.start('projector', 2);
    await fleet.start('worker', 2);
    await fleet.start('api', 2);
    await connectCrm(fleet, upstream.baseUrl);
    balancer = new LoadBalancer(() => fleet.running('api').map(({ baseUrl }) => baseUrl));
  }, DEADLINE_MS);
  afterAll(async () => {
    balancer?.close();
    await fleet?.stop();
    await upstream?.close();
    await redis?.stop();
  }, DEADLINE_MS);

  /** One call after the other until it is told to end: what came back, and what went wrong. */
  const client = async (name: string, end: AbortSignal, answers: BalancedAnswer[], failures: unknown[]) => {
    for (let number = 0; !end.aborted; number += 1) {
      const body = { tool: 'crm.add_note', args: { id: `${name}-${number}`, text: 'x' } };
      try {
        answers.push(await balancer.send('POST', '/v1/actions', fleet.agentKey, body));
      } catch (error) {
        failures.push(error);
      }
      await delay(PACE_MS);
    }
  };

  it(
    'loses and fails no call while every process is replaced',
    async () => {
      const [answers, failures] = [[] as BalancedAnswer[], [] as unknown[]];
      const end = new AbortController();
      const traffic = Promise.all(
        Array.from({ length: CLIENTS }, (_, index) => client(`c${index}`, end.signal, answers, failures)),
      );
      for (const process of [...fleet.processes]) {
        expect(await fleet.replace(process), process.output).toBe(0);
        const reached = answers.length;
        // The one that was replaced last is in use before the next one goes.
        await expect.poll(() => answers.length, { timeout: 30_000 }).toBeGreaterThan(reached + CLIENTS);
      }
      end.abort();
      await traffic;
      console.info(`${answers.length} calls, ${balancer.sentOn} of them sent on`);
      expect(failures).toEqual([]);
      // 202: the wait ended with the api that was replaced.
      const strange = answers.filter(({ status }) => status !== 200 && status !== 202);
      expect(strange).toEqual([]);
      for (const { json } of answers) {
        const id = String(json['id']);
        const { json: action } = await balancer.send('GET', `/v1/actions/${id}?wait=25`, fleet.agentKey);
        expect(action).toMatchObject({ state: 'sealed', execution: { status: 'succeeded' } });
        expect(upstream.countFor(id)).toBe(1);
      }
      expect(new Set(answers.map(({ json }) => json['id'])).size).toBe(answers.length);
      expect(upstream.seen).toHaveLength(answers.length);
    },
    DEADLINE_MS,
  );

  it(
    'has sealed each outcome once, in ledgers that are whole',
    async () => {
      const audit = await runAgs(['audit', '--json'], { env: fleet.environment });
      expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0 } });
    },
    DEADLINE_MS,
  );
});
