import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: refunds
    match:
      tools:
        - pay.refund
    decision: require_approval
  - id: everything-else
    decision: allow
budgets:
  - id: daily
    match:
      tools:
        - pay.lookup
    period: day
    max_calls: 2
  - id: refunds
    match:
      tools:
        - pay.refund
    period: month
    max_calls: 5
`;
const tool = (name: string, method: string) => ({ name, method, path: `/v1/${name}`, args: {} });
const PAY = {
  type: 'rest',
  name: 'pay',
  config: {
    allowed_methods: ['GET', 'POST'],
    allowed_path_prefixes: ['/v1'],
    tools: [tool('lookup', 'GET'), tool('refund', 'POST')],
  },
};

let upstream: Upstream;
let bench: PeopleBench;
let admin: Browser;
let policy: string;

beforeAll(async () => {
  upstream = await startUpstream();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  admin = await bench.member(await bench.ownerBrowser(), 'admin@example.com', 'admin');
  const config = { ...PAY.config, base_url: upstream.baseUrl };
  expect((await admin.post('/v1/connectors', { ...PAY, config })).status).toBe(201);
  const made = await admin.post('/v1/policies', { name: 'Bounded', source: POLICY });
  policy = made.json['id'] as string;
  expect((await admin.post(`/v1/policies/${policy}/versions/1/activate`, { mode: 'enforce' })).status).toBe(200);
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});

const act = (name: string, headers: Record<string, string> = {}, wait = 20) =>
  bench.browser().post('/v1/actions', { tool: `pay.${name}`, args: {}, wait }, { ...bench.agentKey, ...headers });

describe('a budget of a policy', () => {
  it('lets its limit of calls run, then answers 429 with a sealed refusal and the time to retry', async () => {
    expect([(await act('lookup')).status, (await act('lookup')).status]).toEqual([200, 200]);
    const { status, json, headers } = await act('lookup', { 'Idempotency-Key': 'one too many' });
    const error = json['error'] as Record<string, unknown>;
    expect([status, error['type'], error['code']]).toEqual([429, 'rate_limit_error', 'budget_exceeded']);
    const { decision, state, status: word, deed } = error['action'] as Record<string, Record<string, unknown>>;
    expect([state, word, deed]).toEqual(['sealed', 'denied', expect.stringMatching(/^deed_/)]);
    expect(decision).toMatchObject({
      outcome: 'deny',
      source: 'budget',
      reason: 'budget daily',
      policy,
      rule_id: null,
    });
    expect(decision?.['message']).toBe(error['message']);
    const leftS = (Date.parse(String(decision?.['retry_at'])) - Date.now()) / 1000;
    const retryAfterS = Number(headers.get('retry-after'));
    expect(retryAfterS).toBeGreaterThanOrEqual(Math.floor(leftS));
    expect(retryAfterS).toBeLessThanOrEqual(24 * 60 * 60);

    const again = await act('lookup', { 'Idempotency-Key': 'one too many' });
    expect([again.status, again.headers.get('service-idempotent-replayed')]).toEqual([429, 'true']);
    expect(again.json['error']).toMatchObject({ message: error['message'], action: { deed } });
    expect(Number(again.headers.get('retry-after'))).toBeLessThanOrEqual(retryAfterS);
    const id = (error['action'] as { id: string }).id;
    const read = await bench.browser().get(`/v1/actions/${id}`, bench.agentKey);
    expect(read.json['decision']).toMatchObject({ retry_at: decision?.['retry_at'] });
  });

  it('is shown to an approver with what the approval would leave of it', async () => {
    await act('refund', {}, 0);
    const { json } = await act('refund', {}, 0);
    const approval = String(json['id']).replace('act_', 'apr_');
    const shown = (await admin.get(`/v1/approvals/${approval}`)).json;
    const [month] = shown['budgets'] as Record<string, unknown>[];
    expect(month).toEqual({
      budget: `${policy}/refunds`,
      used: 2,
      limit: 5,
      currency: null,
      resets_at: expect.stringMatching(/-01T00:00:00.000Z$/) as unknown,
    });
    expect((shown['context'] as Record<string, unknown>)['budgets_after']).toEqual([
      { id: 'refunds', used: 2, max: 5, currency: null },
    ]);
    await admin.post(`/v1/approvals/${approval}/deny`, {});
  });
});
