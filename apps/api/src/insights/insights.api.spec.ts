import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: looks
    match:
      tools:
        - pay.get_refund
    decision: allow
  - id: refunds
    match:
      tools:
        - pay.refund
    decision: require_approval
    approval:
      expires_in: 10m
`;
const CONFIG = {
  allowed_methods: ['GET', 'POST'],
  allowed_path_prefixes: ['/v1'],
  tools: [
    { name: 'refund', method: 'POST', path: '/v1/refunds', args: { amount: { in: 'body', type: 'integer' } } },
    { name: 'get_refund', method: 'GET', path: '/v1/refunds' },
  ],
};

let upstream: Upstream;
let bench: PeopleBench;
let [owner, viewer] = [] as unknown as [Browser, Browser];

/** An allowed call, one that waits, and one that no rule allows. */
beforeAll(async () => {
  upstream = await startUpstream();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  owner = await bench.ownerBrowser();
  viewer = await bench.member(owner, 'viewer@example.com', 'viewer');
  const connector = { type: 'rest', name: 'pay', config: { ...CONFIG, base_url: upstream.baseUrl } };
  expect((await owner.post('/v1/connectors', connector)).status).toBe(201);
  const policy = await owner.post('/v1/policies', { name: 'Refunds', source: POLICY });
  const activate = `/v1/policies/${policy.json['id'] as string}/versions/1/activate`;
  expect((await owner.post(activate, { mode: 'enforce' })).status).toBe(200);
  const statuses = [];
  for (const tool of ['pay.get_refund', 'pay.refund', 'pay.unheard_of']) {
    const sent = await bench.browser().post('/v1/actions', { tool, args: {}, wait: 0 }, bench.agentKey);
    statuses.push(sent.status >= 400 ? 403 : 202);
  }
  expect(statuses).toEqual([202, 202, 403]);
  await vi.waitFor(async () => expect((await owner.get('/v1/deeds?kind=action')).json['data']).toHaveLength(2), {
    timeout: 20_000,
    interval: 50,
  });
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});

describe('the overview', () => {
  it('counts what was submitted in the window, and says what waits and runs out', async () => {
    const { status, json } = await viewer.get('/v1/overview');
    expect(status).toBe(200);
    expect(json).toMatchObject({
      object: 'overview',
      window: '24h',
      actions: { total: 3, executed: 1, failed: 0, expired: 0, cancelled: 0 },
      blocked: { total: 1, policy: 1, budget: 0, stop: 0 },
      verdicts: { verified: 1, mismatch: 0, unverifiable: 0, not_witnessed: 2 },
      approvals: { pending: 1 },
      previous: { to: json['from'], actions: { total: 0 } },
      attention: [{ kind: 'approval_expiring', tool: 'pay.refund' }],
    });
    const buckets = (json['actions'] as { buckets: { total: number; blocked: number }[] }).buckets;
    expect([buckets.length, buckets.reduce((sum, { total }) => sum + total, 0)]).toEqual([24, 3]);
  });

  it('shows who acted last, with the use of today', async () => {
    const { json } = await owner.get('/v1/overview');
    expect(json['agents']).toMatchObject([{ name: 'first-agent', status: 'active', usage: { calls: 3 } }]);
  });

  it('stands for ten seconds, whatever happens meanwhile', async () => {
    const before = await owner.get('/v1/overview');
    await bench.browser().post('/v1/actions', { tool: 'pay.unheard_of', args: {} }, bench.agentKey);
    expect((await owner.get('/v1/overview')).json).toEqual(before.json);
  });

  it('is not for agents, and takes no other window or parameter', async () => {
    expect(await bench.browser().get('/v1/overview', bench.agentKey)).toMatchObject({
      status: 403,
      error: { code: 'insufficient_scope' },
    });
    for (const [query, param] of [
      ['window=1h', 'window'],
      ['window=', 'window'],
      ['window=24h&window=7d', 'window'],
      ['limit=5', 'limit'],
    ]) {
      expect(await owner.get(`/v1/overview?${query}`)).toMatchObject({
        status: 400,
        error: { code: 'validation_failed', param },
      });
    }
  });
});

describe('statistics', () => {
  it('of decisions are by day, or by what decided', async () => {
    const { json } = await viewer.get('/v1/insights/decisions');
    expect(json).toMatchObject({ object: 'decision_stats', window: '7d', by: 'day', others: null });
    const lines = json['data'] as { total: number }[];
    expect([lines.length, lines.at(-1)]).toEqual([7, expect.objectContaining({ allowed: 1, asked: 1 })]);
    expect(json['timezone']).toBe('UTC');
    const byRule = await viewer.get('/v1/insights/decisions?by=rule&window=30d');
    const rules = byRule.json['data'] as readonly { rule_id: string | null }[];
    expect(rules).toContainEqual(expect.objectContaining({ rule_id: 'refunds', total: 1, asked: 1, denied: 0 }));
    expect(rules.find(({ rule_id }) => rule_id === null)).toMatchObject({ allowed: 0 });
  });

  it('count the days of the organization, and say whose they are', async () => {
    for (const timezone of ['Asia/Kolkata', 'Europe/Vienna']) {
      expect((await owner.send('PATCH', '/v1/org', { timezone })).status).toBe(200);
      const { json } = await viewer.get('/v1/insights/decisions');
      const lines = json['data'] as { day: string; from: string; to: string; allowed: number }[];
      const names = new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' });
      const today = lines.at(-1);
      expect([json['timezone'], today?.allowed]).toEqual([timezone, 1]);
      expect(today?.day).toBe(names.format(Date.parse(String(today?.from))));
      expect([json['from'], json['to']]).toEqual([lines[0]?.from, today?.to]);
    }
    expect((await owner.send('PATCH', '/v1/org', { timezone: 'UTC' })).status).toBe(200);
  });

  it('of verdicts say which rest on the tool’s own word', async () => {
    const { json } = await viewer.get('/v1/insights/verdicts?by=tool');
    expect(json['data']).toContainEqual({
      tool: 'pay.get_refund',
      total: 1,
      verified: 1,
      verified_independently: 0,
      mismatch: 0,
      unverifiable: 0,
      not_witnessed: 0,
    });
  });

  it('refuse what they do not know, and agents', async () => {
    for (const [query, param] of [
      ['window=24h', 'window'],
      ['by=session', 'by'],
      ['from=2026-10-01', 'from'],
    ]) {
      expect(await owner.get(`/v1/insights/verdicts?${query}`)).toMatchObject({
        status: 400,
        error: { code: 'validation_failed', param },
      });
    }
    expect(await bench.browser().get('/v1/insights/decisions', bench.agentKey)).toMatchObject({ status: 403 });
  });
});

describe('a budget that is nearly used up', () => {
  it('needs attention, also in the overview of seven days', async () => {
    const { json: agents } = await owner.get('/v1/agents');
    const [{ id }] = agents['data'] as [{ id: string }];
    const bounded = await owner.send('PATCH', `/v1/agents/${id}`, { budgets: { calls_per_day: 2 } });
    expect(bounded.status).toBe(200);
    for (let call = 0; call < 2; call += 1) {
      const body = { tool: 'pay.get_refund', args: {} };
      expect((await bench.browser().post('/v1/actions', body, bench.agentKey)).status).toBe(200);
    }
    const { json } = await bench.browser().get('/v1/overview?window=7d', bench.adminKey);
    expect((json['actions'] as { buckets: unknown[] }).buckets).toHaveLength(28);
    expect(json['attention']).toContainEqual({
      kind: 'budget_near',
      ids: [id],
      budget: 'calls_per_day',
      currency: null,
      used: 2,
      limit: 2,
      resets_at: expect.any(String) as string,
    });
    expect((await owner.send('PATCH', `/v1/agents/${id}`, { budgets: { calls_per_day: null } })).status).toBe(200);
  });
});
