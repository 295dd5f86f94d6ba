import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CodeHostWire, WIRE_TOKEN } from '../support/code-host-wire.js';
import { type Answer, type RunningService, startService } from '../support/service.js';

const PATIENCE = { timeout: 60_000, interval: 100 };
const SETTINGS = {
  SERVICE_ENV: 'dev',
  SERVICE_FAILPOINTS: 'none',
  SERVICE_SWEEP_INTERVAL_MS: '200',
  SERVICE_EXECUTOR_SILENCE_MS: '400',
  LOG_LEVEL: 'info',
};
const POLICY = `version: 1
default: deny
rules:
  - id: all
    match:
      tools:
        - code.*
    decision: allow
`;

let service: RunningService;
let wire: CodeHostWire;

const asAdmin = async (method: string, path: string, body: unknown): Promise<Answer['json']> => {
  const answer = await service.call(method, path, { key: service.adminKey, body });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json;
};
const arm = async (order: string): Promise<void> => {
  await writeFile(join(service.stateDir, 'failpoints'), order);
  const saidBefore = service.output.length;
  process.kill(service.pid, 'SIGUSR2');
  await vi.waitFor(() => expect(service.output.slice(saidBefore)).toContain('failpoints are armed'), PATIENCE);
};
/** The same each time: an action is made once. */
const open = (key: string): Promise<Answer> =>
  service.call('POST', '/v1/actions', {
    key: service.agentKey,
    headers: { 'Idempotency-Key': key },
    body: { tool: 'code.create_issue', args: { repository: 'acme/shop', title: key, body: 'b' }, wait: 0 },
  });

beforeAll(async () => {
  [service, wire] = await Promise.all([startService({ env: SETTINGS }), CodeHostWire.start()]);
  const config = { repositories: ['acme/shop'], base_url: wire.baseUrl };
  await asAdmin('POST', '/v1/connectors', { type: 'code_host', name: 'code', config });
  await asAdmin('PUT', '/v1/connectors/code/credentials', { kind: 'bearer', secret: { token: WIRE_TOKEN } });
  const { id } = await asAdmin('POST', '/v1/policies', { name: 'All', source: POLICY });
  await asAdmin('POST', `/v1/policies/${String(id)}/versions/1/activate`, { mode: 'enforce' });
});
afterAll(async () => {
  await service?.stop();
  await wire?.close();
});

describe('under kill -9, an issue is opened once at most, and VERIFIED only where it is there', () => {
  it.each([
    ...['gate.t1.ack', 'exec.claimed', 'exec.before_send', 'exec.sent', 'exec.answered'],
    ...['exec.t4.ack', 'exec.read_back'],
  ])('at %s', async (point) => {
    await arm(`${point}=kill@1`);
    const exited = service.exited();
    await open(point).catch(() => null);
    await exited;
    await service.start();
    const action = await vi.waitFor(async () => {
      const { json } = await open(point);
      const seen = await service.call('GET', `/v1/actions/${String(json['id'])}`, { key: service.adminKey });
      expect(seen.json['witness'], seen.text).toMatchObject({ verdict: expect.any(String) as string });
      return seen.json;
    }, PATIENCE);
    const opened = [...wire.shop.issues.values()].filter(({ title }) => title === point);
    const { verdict } = action['witness'] as { readonly verdict: string };
    const { status } = action['execution'] as { readonly status: string };
    expect(opened.length).toBeLessThanOrEqual(1);
    if (verdict === 'VERIFIED' || status === 'succeeded') expect(opened).toHaveLength(1);
    if (status === 'failed') expect(opened).toHaveLength(0);
    // Whoever wrote it, the mark says so.
    for (const { body } of opened) expect(body).toContain(`<!-- ${String(action['id'])} -->`);
    if (opened.length === 1) expect(verdict).toBe('VERIFIED');
  });
});
