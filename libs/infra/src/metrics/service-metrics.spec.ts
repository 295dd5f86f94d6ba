import { beforeEach, describe, expect, it } from 'vitest';
import type { OrgId } from '#libs/domain/kernel';
import { BuildFacts } from '../runtime/index.js';
import { ServiceMetrics } from './service-metrics.js';

let metrics: ServiceMetrics;
beforeEach(() => {
  metrics = new ServiceMetrics(new BuildFacts('1.2.3', 'a'.repeat(40), null));
});

/** Samples by name and labels, as the text says them. */
const samples = async (): Promise<ReadonlyMap<string, number>> => {
  const lines = (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
};
const answer = (method: string, route: string | null = null, durationMs = 1) => {
  metrics.requestBegan();
  metrics.requestEnded({ route, method, status: 404, durationMs });
};

/** As docs/metrics.md lists them. */
const FAMILIES = {
  service_http_requests_total: 'counter',
  service_http_request_duration_seconds: 'histogram',
  service_http_in_flight: 'gauge',
  service_build_info: 'gauge',
  service_policy_reloads_total: 'counter',
  service_policy_load_failures_total: 'counter',
  service_policy_active_orgs: 'gauge',
  service_gate_actions_total: 'counter',
  service_gate_overhead_seconds: 'histogram',
  service_worker_jobs_total: 'counter',
  service_worker_queue_depth: 'gauge',
  service_gate_sweeps_total: 'counter',
  service_ledger_witnessed_age_seconds: 'gauge',
  service_policy_eval_time_limit_total: 'counter',
  service_witness_transactions_total: 'counter',
  service_witness_lag_bytes: 'gauge',
  service_witness_lag_seconds: 'gauge',
  service_witness_decoders: 'gauge',
};

describe('the metrics of the service', () => {
  it('are the 18 families of docs/metrics.md, each with its type, and no other', async () => {
    const types = [...(await metrics.text()).matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]);
    expect(Object.fromEntries(types)).toEqual(FAMILIES);
  });

  it('say what was built', async () => {
    expect((await samples()).get(`service_build_info{version="1.2.3",commit="${'a'.repeat(40)}"}`)).toBe(1);
  });

  it('have as many labels after 100,000 odd methods and paths as after one (rule OPS-3)', async () => {
    answer('BREW');
    answer('GET');
    const before = (await samples()).size;
    for (let number = 0; number < 100_000; number += 1) answer(`M${number}`, null);
    const after = await samples();
    expect(after.size).toBe(before);
    expect(after.get('service_http_requests_total{route="unmatched",method="OTHER",status="404"}')).toBe(100_001);
  });

  it('count durations in these buckets and in no others', async () => {
    answer('GET', '/v1/health', 2.5);
    metrics.gateOverhead(3);
    const found = await samples();
    const bounds = (family: string): unknown[] =>
      [...found.keys()].flatMap((key) => (key.startsWith(`${family}_bucket`) ? [/le="([^"]+)"/.exec(key)?.[1]] : []));
    expect(bounds('service_http_request_duration_seconds')).toEqual([
      '0.001',
      '0.0025',
      '0.005',
      '0.01',
      '0.025',
      '0.05',
      '0.1',
      '0.25',
      '0.5',
      '1',
      '2.5',
      '5',
      '+Inf',
    ]);
    expect(bounds('service_gate_overhead_seconds')).toEqual([
      '0.001',
      '0.002',
      '0.005',
      '0.01',
      '0.025',
      '0.05',
      '0.1',
      '+Inf',
    ]);
    expect(found.get('service_http_request_duration_seconds_bucket{le="0.0025",route="/v1/health"}')).toBe(1);
    expect(found.get('service_gate_overhead_seconds_bucket{le="0.002"}')).toBe(0);
    expect(found.get('service_gate_overhead_seconds_bucket{le="0.005"}')).toBe(1);
  });

  it('count an organization once, and no longer when it has no policy', async () => {
    const active = async () => (await samples()).get('service_policy_active_orgs');
    const [one, other] = ['org_one', 'org_other'] as OrgId[] as [OrgId, OrgId];
    for (const org of [one, one, other]) metrics.organizationJudged(org, true);
    expect(await active()).toBe(2);
    metrics.organizationJudged(one, false);
    expect(await active()).toBe(1);
  });

  it('say of the decoders of change logs how many there are, and how far the worst of them is behind', async () => {
    const of = async () => {
      const found = await samples();
      return [
        ...['healthy', 'degraded', 'down', 'invalidated'].map((status) =>
          found.get(`service_witness_decoders{status="${status}"}`),
        ),
        found.get('service_witness_lag_bytes'),
        found.get('service_witness_lag_seconds'),
      ];
    };
    expect(await of()).toEqual([0, 0, 0, 0, 0, 0]);
    metrics.decoderStands('con_one', { status: 'degraded', lagBytes: 20_000_000, lagMs: 500 });
    metrics.decoderStands('con_two', { status: 'healthy', lagBytes: 8, lagMs: 2_000 });
    expect(await of()).toEqual([1, 1, 0, 0, 20_000_000, 2]);
    metrics.decoderStands('con_one', null);
    expect(await of()).toEqual([1, 0, 0, 0, 8, 2]);
    metrics.transactionSeen('bypass');
    expect((await samples()).get('service_witness_transactions_total{result="bypass"}')).toBe(1);
  });

  it('ask the queue at every scrape', async () => {
    expect((await samples()).get('service_worker_queue_depth')).toBe(0);
    metrics.queue = { depth: () => Promise.resolve(7) };
    expect((await samples()).get('service_worker_queue_depth')).toBe(7);
  });

  it('of a queue that does not say how much waits is no number, and the others are served', async () => {
    metrics.queue = { depth: () => Promise.reject(new Error('away')) };
    const text = await metrics.text();
    expect(text).toMatch(/^service_worker_queue_depth NaN$|^service_worker_queue_depth Nan$/m);
    expect(text).toMatch(/^service_build_info\{/m);
  });
});
