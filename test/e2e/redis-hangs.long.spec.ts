import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { EXTENT } from '../chaos/fault-matrix/expectations.js';
import { connectCrm } from '../support/crm.js';
import { Fleet } from '../support/fleet.js';
import type { FleetProcess } from '../support/fleet-process.js';
import { hasRedisServer, NO_REDIS, RedisServer } from '../support/redis-server.js';
import { runAgs } from '../support/run-ags.js';
import { callAt, type Answer } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DEADLINE_MS = 120_000;
const PATIENCE = { timeout: 30_000, interval: 50 };
const DRAIN_TIMEOUT_MS = 10_000;
/** On which a worker waits: executions, and webhooks. */
const QUEUES = 2;
/** What a Stop may take until it has ended every wait: less than a poll takes that nobody wakes. */
const STOP_MS = 10_000;
/** Longer than it takes to stop an agent by the command line. */
const CLAIMED_MS = 15_000;
const SETTINGS = {
  SERVICE_METRICS_ADDRESS: '127.0.0.1:0',
  SERVICE_DRAIN_TIMEOUT_MS: String(DRAIN_TIMEOUT_MS),
  SERVICE_SWEEP_INTERVAL_MS: '1000',
};
/** A name of its own says how long the upstream takes. */
const SLOW_MS = 1_500;

const isThere = hasRedisServer();

describe.skipIf(!isThere || EXTENT === undefined)(
  `a fleet whose Redis hangs (${isThere ? 'redis-server' : NO_REDIS})`,
  () => {
    let redis: RedisServer;
    let fleet: Fleet;
    let upstream: Upstream;

    beforeAll(async () => {
      redis = await RedisServer.start();
      fleet = await Fleet.prepare({ ...SETTINGS, REDIS_URL: redis.url });
      upstream = await startUpstream(({ path }, response) => {
        const answer = () => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
        if (path.includes('/slow-')) setTimeout(answer, SLOW_MS);
        else answer();
      });
      await fleet.start('projector', 1);
      // The first call after those that are made before Redis hangs.
      await fleet.start('worker', 1, { SERVICE_FAILPOINTS: `exec.claimed=delay:${CLAIMED_MS}@3` });
      await fleet.start('api', 2);
      await connectCrm(fleet, upstream.baseUrl, { timeoutMs: 60_000 });
      expect(await settled(await Promise.all(fleet.running('api').map((api) => act(api, 'before'))))).toEqual(SEALED);
      redis.signal('SIGSTOP');
    }, DEADLINE_MS);
    afterAll(async () => {
      redis?.signal('SIGCONT');
      await fleet?.stop();
      await upstream?.close();
      await redis?.stop();
    }, DEADLINE_MS);

    const SEALED = ['200 sealed'];
    const act = (api: FleetProcess, effect: string, wait = 20): Promise<Answer> =>
      callAt(api.baseUrl, 'POST', '/v1/actions', {
        key: fleet.agentKey,
        body: { tool: 'crm.add_note', args: { id: effect, text: 'x' }, wait },
      });
    const settled = async (answers: readonly Answer[]): Promise<readonly string[]> => [
      ...new Set(answers.map(({ status, json, error }) => `${status} ${String(json['state'] ?? error['code'])}`)),
    ];
    const read = (api: FleetProcess, action: string, query = ''): Promise<Answer> =>
      callAt(api.baseUrl, 'GET', `/v1/actions/${action}${query}`, { key: fleet.agentKey });
    const sent = (effect: string): number => upstream.seen.filter(({ path }) => path.includes(`/${effect}`)).length;
    const ags = (...args: readonly string[]) => runAgs([...args, '--json'], { env: fleet.environment });
    /** What a process serves beside its work. */
    const beside = (process: FleetProcess, path: string): Promise<Answer> => {
      const port = /port=(\d+) message="metrics are served"/.exec(process.stdout)?.[1];
      return callAt(`http://127.0.0.1:${port}`, 'GET', path);
    };

    it(
      'obeys a Stop at every api, in every wait, and for a call that is claimed',
      async () => {
        const [first, second] = fleet.running('api') as [FleetProcess, FleetProcess];
        const action = String((await act(first, 'claimed', 0)).json['id']);
        const worker = fleet.running('worker')[0]!;
        await vi.waitFor(() => expect(worker.stdout).toContain('a failpoint acts'), PATIENCE);
        let stoppedAt = Number.POSITIVE_INFINITY;
        const polls = [first, second].map(async (api) => {
          const { status, error } = await read(api, action, '?wait=25');
          return { status, code: error['code'], isInTime: performance.now() - stoppedAt < STOP_MS };
        });
        const stopped = await ags('agents', 'stop', fleet.agent);
        stoppedAt = performance.now();
        expect(stopped).toMatchObject({ code: 0, object: { status: 'stopped' } });
        const calls = await Promise.all([first, second].map((api) => act(api, 'stopped')));
        expect(await settled(calls)).toEqual(['403 agent_stopped']);
        const ended = { status: 403, code: 'agent_stopped', isInTime: true };
        expect(await Promise.all(polls)).toEqual([ended, ended]);

        await vi.waitFor(async () => {
          const { json } = await callAt(first.baseUrl, 'GET', `/v1/actions/${action}`, { key: fleet.adminKey });
          expect(json).toMatchObject({
            state: 'sealed',
            execution: { status: 'failed', error_code: 'agent_stopped' },
          });
        }, PATIENCE);
        expect([sent('claimed'), sent('stopped')]).toEqual([0, 0]);
        expect(await ags('agents', 'resume', fleet.agent)).toMatchObject({ code: 0 });
        expect(await settled([await act(second, 'resumed')])).toEqual(SEALED);
      },
      DEADLINE_MS,
    );

    it(
      'obeys a Stop of the organization, and its end',
      async () => {
        const apis = fleet.running('api');
        expect(await ags('org', 'stop')).toMatchObject({ code: 0 });
        expect(await settled(await Promise.all(apis.map((api) => act(api, 'org'))))).toEqual(['403 org_stopped']);
        expect(await ags('org', 'start')).toMatchObject({ code: 0 });
        expect(sent('org')).toBe(0);
        expect(await settled(await Promise.all(apis.map((api) => act(api, 'org'))))).toEqual(SEALED);
      },
      DEADLINE_MS,
    );

    it(
      'says so where it is asked, and calls nothing else unwell',
      async () => {
        const [api] = fleet.running('api') as [FleetProcess];
        const { objects } = await ags('doctor', '--url', api.baseUrl);
        const unwell = objects.filter(({ status }) => status === 'problem');
        expect(unwell).toMatchObject([
          { check: 'redis', message: expect.stringContaining('no answer within 2 s') as string },
        ]);
        expect(await ags('init')).toMatchObject({ code: 0 });
        expect(await ags('audit')).toMatchObject({ code: 0, object: { result: 'intact' } });
        expect((await callAt(api.baseUrl, 'GET', '/v1/health')).json).toMatchObject({ status: 'ok' });
        for (const process of fleet.processes) {
          expect(await beside(process, '/ready')).toMatchObject({ status: 200, text: 'ready\n' });
          expect(await beside(process, '/metrics')).toMatchObject({ status: 200 });
        }
        expect((await beside(api, '/metrics')).text).toMatch(/^service_worker_queue_depth nan$/im);
      },
      DEADLINE_MS,
    );

    it.each(['projector', 'worker', 'api'] as const)(
      'keeps no %s from ending or starting',
      async (program) => {
        const [first, other] = fleet.running('api') as [FleetProcess, FleetProcess];
        const underWay = act(first, `slow-${program}`);
        await vi.waitFor(() => expect(sent(`slow-${program}`)).toBe(1), PATIENCE);
        const toldAt = performance.now();
        const old = program === 'api' ? first : fleet.running(program)[0]!;
        expect(await fleet.retire(old)).toBe(0);
        expect(performance.now() - toldAt).toBeLessThan(DRAIN_TIMEOUT_MS);
        await fleet.start(program, 1);
        const { status, json } = await underWay;
        expect([200, 202]).toContain(status);
        await vi.waitFor(async () => {
          expect((await read(other, String(json['id']))).json).toMatchObject({
            state: 'sealed',
            execution: { status: 'succeeded' },
          });
        }, PATIENCE);
        expect(sent(`slow-${program}`)).toBe(1);
        const started = fleet.processes.at(-1)!;
        expect(await beside(started, '/ready')).toMatchObject({ status: 200 });
        const api = fleet.running('api').at(-1)!;
        expect(await settled([await act(api, `new-${program}`)])).toEqual(SEALED);
      },
      DEADLINE_MS,
    );

    it(
      'goes on when it wakes: each call once, and each worker waits for jobs again',
      async () => {
        const apis = fleet.running('api');
        const calls = Array.from({ length: 20 }, (_, index) => act(apis[index % apis.length]!, `late-${index}-`));
        await vi.waitFor(() => expect(sent('late-')).toBeGreaterThan(0), PATIENCE);
        redis.signal('SIGCONT');
        expect(await settled(await Promise.all(calls))).toEqual(SEALED);
        expect(upstream.seen.filter(({ path }) => path.includes('/late-'))).toHaveLength(20);
        const client = new Redis(redis.url);
        await vi.waitFor(async () => {
          const clients = String(await client.call('CLIENT', 'LIST')).split('\n');
          expect(clients.filter((line) => /\bcmd=bzpopmin\b/.test(line) && /\bflags=b/.test(line))).toHaveLength(
            QUEUES,
          );
        }, PATIENCE);
        await client.quit();
        const log = fleet.processes.map(({ output }) => output).join('\n');
        expect(log).toMatch(/level=warn .*fault="Redis does not answer.* next="Look at REDIS_URL/);
        expect(log).not.toMatch(/level=error|is replaced/);
      },
      DEADLINE_MS,
    );
  },
);
