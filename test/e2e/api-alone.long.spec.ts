import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { PROJECTION_NAMES } from '#libs/infra/read-models';
import { connectCrm } from '../support/crm.js';
import { Fleet } from '../support/fleet.js';
import type { FleetProcess } from '../support/fleet-process.js';
import { runAgs, type AgsRun } from '../support/run-ags.js';
import { runDoctor } from '../support/run-doctor.js';
import { callAt } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const DEADLINE_MS = 180_000;
const PATIENCE = { timeout: 60_000, interval: 50 };
/** What docs/api-conventions.md promises, and the second for which an answer is kept. */
const CACHED_MS = 1_000;
const PROJECTIONS_LATE_MS = 2_000;
const SEALING_LATE_MS = 10_000;
const EXECUTIONS_LATE_MS = 10_000;
/** For a machine that others keep busy. */
const SLACK_MS = 3_000;

type Checks = Readonly<Record<'projections' | 'executions' | 'sealing', 'ok' | 'degraded' | 'down'>>;

describe('an api alone', () => {
  let fleet: Fleet;
  let upstream: Upstream;
  let since: string;
  const actions: string[] = [];

  beforeAll(async () => {
    upstream = await startUpstream();
    fleet = await Fleet.prepare({ LOG_LEVEL: 'info', SERVICE_METRICS_ADDRESS: '127.0.0.1:0' });
  }, DEADLINE_MS);
  afterAll(async () => {
    await fleet?.stop();
    await upstream?.close();
  }, DEADLINE_MS);

  const checks = async (): Promise<Checks> => (await fleet.call('GET', '/v1/health')).json['checks'] as Checks;
  const doctor = (): Promise<AgsRun> => runDoctor([], { env: fleet.environment });
  const found = ({ objects }: AgsRun, check: string) => objects.find((object) => object['check'] === check);
  const metricsOf = async ({ stdout }: FleetProcess): Promise<string> => {
    const port = /port=(\d+) message="metrics are served"/.exec(stdout)?.[1];
    return (await callAt(`http://127.0.0.1:${port}`, 'GET', '/metrics')).text;
  };
  const restarted = async (): Promise<Checks> => {
    await fleet.replace(fleet.running('api')[0]!);
    return checks();
  };

  it(
    'is well as long as nothing waits, also where nothing else runs',
    async () => {
      await fleet.start('projector', 1);
      await fleet.start('worker', 1);
      await fleet.start('api', 1);
      // Preparing the deployment was recorded, and is sealed and shown first.
      await vi.waitFor(
        async () => expect(await checks()).toMatchObject({ projections: 'ok', sealing: 'ok' }),
        PATIENCE,
      );
      await fleet.end('worker', 'SIGTERM');
      await fleet.end('projector', 'SIGTERM');
      expect(await restarted()).toMatchObject({ projections: 'ok', executions: 'ok', sealing: 'ok' });
      expect([found(await doctor(), 'sealing'), found(await doctor(), 'projections')]).toMatchObject([
        { status: 'ok' },
        { status: 'ok' },
      ]);
    },
    DEADLINE_MS,
  );

  it(
    'says that nobody projects and nobody seals, each in its time',
    async () => {
      const begun = performance.now();
      const refused = fleet.call('POST', '/v1/actions', { key: fleet.agentKey, body: { tool: 'x.y' } });
      const lateAfterMs: Partial<Record<keyof Checks, number>> = {};
      /** When that was asked which the last good answer is to. */
      const wellUntilMs = { projections: 0, sealing: 0 };
      await vi.waitFor(async () => {
        const askedAfterMs = performance.now() - begun;
        const answer = await checks();
        for (const check of ['projections', 'sealing'] as const) {
          if (answer[check] === 'degraded') lateAfterMs[check] ??= performance.now() - begun;
          else wellUntilMs[check] = askedAfterMs;
        }
        expect(answer).toMatchObject({ projections: 'degraded', sealing: 'degraded' });
      }, PATIENCE);
      console.info(`degraded after ${JSON.stringify(lateAfterMs)} ms`);
      expect(lateAfterMs.projections).toBeGreaterThan(PROJECTIONS_LATE_MS);
      expect(wellUntilMs.projections).toBeLessThan(PROJECTIONS_LATE_MS + CACHED_MS + SLACK_MS);
      expect(lateAfterMs.sealing).toBeGreaterThan(SEALING_LATE_MS);
      expect(wellUntilMs.sealing).toBeLessThan(SEALING_LATE_MS + CACHED_MS + SLACK_MS);
      expect(await refused).toMatchObject({ status: 503, error: { code: 'service_unavailable' } });
    },
    DEADLINE_MS,
  );

  it('says so at its first answer after a restart', async () => {
    expect(await restarted()).toMatchObject({ projections: 'degraded', sealing: 'degraded' });
  });

  it('is told by doctor what waits since when, and what to start', async () => {
    const exported = await runAgs(['events', 'export'], { env: fleet.environment });
    since = String(exported.objects.at(-1)?.['at']);
    const run = await doctor();
    // The beginning of the action and its refusal, which alone asks for a deed.
    expect(found(run, 'sealing')).toMatchObject({
      status: 'warning',
      message: `1 outcome waits to be sealed since ${since}, and no worker is connected to the database.`,
      next: expect.stringMatching(/^Start a worker \(`npm run start:worker`\)/) as string,
    });
    expect(found(run, 'projections')).toMatchObject({
      status: 'warning',
      message:
        `2 events wait to be shown in lists since ${since} (${PROJECTION_NAMES.join(', ')}), ` +
        'and no projector is connected to the database.',
      next: expect.stringMatching(/^Start a projector \(`npm run start:projector`\)/) as string,
    });
    expect(run.code).toBe(0);
  });

  it(
    'says that all is well once a worker and a projector run',
    async () => {
      await fleet.start('worker', 1);
      await vi.waitFor(async () => expect(await checks()).toMatchObject({ sealing: 'ok' }), PATIENCE);
      expect(await checks()).toMatchObject({ projections: 'degraded' });
      await fleet.start('projector', 1);
      await vi.waitFor(
        async () => expect(await checks()).toMatchObject({ projections: 'ok', sealing: 'ok' }),
        PATIENCE,
      );
      const run = await doctor();
      expect([found(run, 'sealing'), found(run, 'projections')]).toMatchObject([{ status: 'ok' }, { status: 'ok' }]);
    },
    DEADLINE_MS,
  );

  it(
    'says that nobody executes what is allowed, before a refusal waits for its deed',
    async () => {
      await connectCrm(fleet, upstream.baseUrl);
      // The connector and the policy are sealed first.
      await vi.waitFor(async () => expect(found(await doctor(), 'sealing')).toMatchObject({ status: 'ok' }), PATIENCE);
      await fleet.end('worker', 'SIGTERM');
      const begun = performance.now();
      const body = { tool: 'crm.get_customer', args: { id: '42' }, wait: 0 };
      const calls = [body, body].map((each) => fleet.call('POST', '/v1/actions', { key: fleet.agentKey, body: each }));
      for (const { status, json } of await Promise.all(calls)) {
        expect(status).toBe(202);
        actions.push(String(json['id']));
      }
      const allowedMs = performance.now();
      expect(await metricsOf(fleet.running('api')[0]!)).toMatch(/^service_worker_queue_depth 0$/m);
      expect(await checks()).toMatchObject({ executions: 'ok', sealing: 'ok' });
      let wellUntilMs = allowedMs;
      await vi.waitFor(async () => {
        const askedMs = performance.now();
        const { executions } = await checks();
        if (executions !== 'degraded') wellUntilMs = askedMs;
        expect(executions).toBe('degraded');
      }, PATIENCE);
      const degradedMs = performance.now();
      console.info(`executions degraded after ${degradedMs - begun} ms`);
      expect(degradedMs - begun).toBeGreaterThan(EXECUTIONS_LATE_MS);
      expect(wellUntilMs - allowedMs).toBeLessThan(EXECUTIONS_LATE_MS + CACHED_MS + SLACK_MS);
      expect(await checks()).toMatchObject({ sealing: 'ok' });
      expect(await restarted()).toMatchObject({ executions: 'degraded', sealing: 'ok' });
    },
    DEADLINE_MS,
  );

  it('is told by doctor what waits to be executed, and since when', async () => {
    const [first] = await Promise.all(
      actions.map((id) => fleet.call('GET', `/v1/actions/${id}`, { key: fleet.agentKey })),
    );
    expect(first?.json).toMatchObject({ state: 'executing' });
    expect(found(await doctor(), 'executions')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(
        /^2 calls wait to be executed since \S+Z, and no worker is connected to the database\.$/,
      ) as string,
      next: expect.stringMatching(/^Start a worker \(`npm run start:worker`\)/) as string,
    });
    expect(upstream.seen).toEqual([]);
  });

  it(
    'says that all is well once a worker has executed them',
    async () => {
      await fleet.start('worker', 1);
      await vi.waitFor(async () => expect(await checks()).toMatchObject({ executions: 'ok', sealing: 'ok' }), PATIENCE);
      for (const id of actions) {
        await vi.waitFor(async () => {
          const { json } = await fleet.call('GET', `/v1/actions/${id}`, { key: fleet.agentKey });
          expect(json).toMatchObject({ state: 'sealed', status: 'executed' });
        }, PATIENCE);
        expect(upstream.countFor(id)).toBe(1);
      }
      expect(found(await doctor(), 'executions')).toMatchObject({ status: 'ok' });
    },
    DEADLINE_MS,
  );
});
