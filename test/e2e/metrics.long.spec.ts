import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connectCrm, UPSTREAM_TOKEN } from '../support/crm.js';
import { startService, type RunningService } from '../support/service.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const SLOW_MS = 300;
const PROMTOOL = spawnSync('promtool', ['--version']).status === 0;

let service: RunningService;
let upstream: Upstream;

beforeAll(async () => {
  upstream = await startUpstream((_request, response) => {
    setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}'), SLOW_MS);
  });
  // Time enough to see it drain.
  service = await startService({ env: { SERVICE_METRICS_ADDRESS: '127.0.0.1:0', SERVICE_DRAIN_DELAY_MS: '3000' } });
  await connectCrm(service, upstream.baseUrl);
  const call = (tool: string, key?: string) =>
    service.call('POST', '/v1/actions', {
      key: service.agentKey,
      body: { tool, args: { id: '42', text: 'hello' }, wait: 25 },
      ...(key === undefined ? {} : { headers: { 'Idempotency-Key': key } }),
    });
  const statuses: number[] = [];
  for (const [tool, key] of [
    ['crm.add_note', 'note-1'],
    ['crm.add_note', 'note-1'],
    ['crm.delete_customer'],
    ['crm.nothing'],
  ]) {
    statuses.push((await call(tool as string, key)).status);
  }
  expect(statuses).toEqual([200, 200, 403, 404]);
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

const baseUrl = (): string => {
  const line = service.stdout.split('\n').find((each) => each.includes('metrics are served')) ?? '';
  return `http://127.0.0.1:${/port=(\d+)/.exec(line)?.[1] ?? ''}`;
};
const at = (path: string): Promise<Response> => fetch(`${baseUrl()}${path}`);
const scrape = async (): Promise<string> => (await at('/metrics')).text();
const readiness = async (): Promise<unknown> => {
  const answer = await at('/ready');
  return [answer.status, await answer.text()];
};

describe('the metrics of a running service', () => {
  it('are no destination of a connector (rule EGRESS-6)', async () => {
    const tools = [{ name: 'read', method: 'GET', path: '/metrics', args: {} }];
    const reached = { base_url: baseUrl(), allowed_methods: ['GET'], allowed_path_prefixes: ['/'], tools };
    const body = { name: 'own', type: 'rest', config: { ...reached, auth: { kind: 'none' } } };
    const refused = await service.call('POST', '/v1/connectors', { key: service.adminKey, body });
    expect(refused).toMatchObject({ status: 400, error: { code: 'destination_blocked' } });
  });

  it('count every action that was made, and no replay', async () => {
    const text = await scrape();
    const lines = text.split('\n').filter((line) => line.startsWith('service_gate_actions_total'));
    expect(lines.sort()).toEqual([
      'service_gate_actions_total{mode="gateway",status="200"} 1',
      'service_gate_actions_total{mode="gateway",status="403"} 1',
      'service_gate_actions_total{mode="gateway",status="404"} 1',
    ]);
    expect(text).toContain('service_http_requests_total{route="/v1/actions",method="POST",status="200"} 2\n');
  });

  it('leave the time of the tool out of the gate’s', async () => {
    const sum = Number(/^service_gate_overhead_seconds_sum (\S+)$/m.exec(await scrape())?.[1]);
    expect(await scrape()).toMatch(/^service_gate_overhead_seconds_count 3$/m);
    const whole = Number(
      /^service_http_request_duration_seconds_sum\{route="\/v1\/actions"\} (\S+)$/m.exec(await scrape())?.[1],
    );
    expect(sum).toBeGreaterThan(0);
    expect(whole - sum).toBeGreaterThan(SLOW_MS / 1_000);
  });

  it('count the policies that were loaded, the organization, and the sweeps', async () => {
    const text = await scrape();
    expect(text).toMatch(/^service_policy_active_orgs 1$/m);
    expect(text).toMatch(/^service_policy_reloads_total [1-9]/m);
    expect(text).toMatch(/^service_policy_load_failures_total 0$/m);
    expect(text).toMatch(/^service_gate_sweeps_total\{sweeper="crash_recovery",result="done"\} [1-9]/m);
  });

  it('are not on the API’s own address, and name nobody (rule OPS-3)', async () => {
    expect(await service.call('GET', '/metrics')).toMatchObject({ status: 404, error: { code: 'not_found' } });
    const text = await scrape();
    for (const secret of [service.org, service.agent, service.agentKey, service.adminKey, UPSTREAM_TOKEN]) {
      expect(text).not.toContain(secret);
    }
  });

  it.skipIf(!PROMTOOL)('are what promtool accepts (Debian’s package prometheus)', async () => {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: await scrape() });
    expect([status, stdout.toString(), stderr.toString()]).toEqual([0, '', '']);
  });
});

describe('a supervisor that asks whether the process is ready', () => {
  it('is told so while it runs, and no longer when it was told to stop', async () => {
    expect(await readiness()).toEqual([200, 'ready\n']);
    process.kill(service.pid, 'SIGTERM');
    await vi.waitFor(async () => expect(await readiness()).toEqual([503, 'draining\n']), {
      timeout: 20_000,
      interval: 5,
    });
  });
});
