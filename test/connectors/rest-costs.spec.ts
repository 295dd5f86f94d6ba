import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/service.js';
import { type ServiceHere, startServiceHere } from '../support/service-here.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: pay
    match:
      tools:
        - pay.*
    decision: allow
budgets:
  - id: refunds
    match:
      tools:
        - pay.refund
    period: day
    max_spend:
      amount: 10000
      currency: eur
`;

const AMOUNT = { in: 'body', type: 'integer', min: 1, required: true, money: { currency_arg: 'currency' } };
const CONFIG = {
  allowed_methods: ['POST'],
  allowed_path_prefixes: ['/v1'],
  tools: [
    {
      name: 'refund',
      method: 'POST',
      path: '/v1/refunds',
      args: { amount: AMOUNT, currency: { in: 'body', type: 'string', required: true } },
      cost: { arg: 'amount' },
    },
    { name: 'stamp', method: 'POST', path: '/v1/stamps', cost: { amount: 85, currency: 'eur' } },
  ],
};

let service: ServiceHere;
let upstream: Upstream;
let agent = '';

const asAdmin = async (method: string, path: string, body?: unknown): Promise<Answer['json']> => {
  const answer = await service.call(method, path, { key: service.adminKey, body });
  if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${answer.text}`);
  return answer.json;
};
const call = (tool: string, args: object): Promise<Answer> =>
  service.call('POST', '/v1/actions', { key: service.agentKey, body: { tool: `pay.${tool}`, args, wait: 20 } });
const refund = (amount: number, currency = 'eur'): Promise<Answer> => call('refund', { amount, currency });
const spentToday = async (): Promise<unknown> => {
  const { data } = await asAdmin('GET', `/v1/agents?q=${agent}&expand[]=usage`);
  return (data as readonly { readonly usage: { readonly spend: unknown } }[])[0]?.usage.spend;
};

beforeAll(async () => {
  [service, upstream] = await Promise.all([startServiceHere(), startUpstream()]);
  await asAdmin('POST', '/v1/connectors', {
    type: 'rest',
    name: 'pay',
    config: { base_url: upstream.baseUrl, ...CONFIG },
  });
  const policy = await asAdmin('POST', '/v1/policies', { name: 'Money', source: POLICY });
  await asAdmin('POST', `/v1/policies/${String(policy['id'])}/versions/1/activate`, { mode: 'enforce' });
  const first = (await refund(4_000, 'EUR')).json['agent'] as Answer['json'];
  agent = String(first['id']);
  await asAdmin('PATCH', `/v1/agents/${agent}`, { budgets: { spend_per_day: { amount: 8_000, currency: 'eur' } } });
});
afterAll(async () => {
  await service?.stop();
  await upstream?.close();
});

describe('a REST tool that names what its calls spend', () => {
  it('is counted by the budget of a policy and by that of the agent, in the currency that a call names', async () => {
    expect((await refund(5_000)).json).toMatchObject({ status: 'executed' });
    const refused = await refund(1_001);
    expect(refused).toMatchObject({ status: 429, json: { error: { code: 'budget_exceeded' } } });
    expect((await refund(1_000)).json).toMatchObject({ status: 'executed' });
    expect(upstream.seen.filter(({ path }) => path === '/v1/refunds')).toHaveLength(3);
    expect(await spentToday()).toEqual([{ amount: 6_000, currency: 'eur' }]);
  });

  it('may cost the same each time', async () => {
    expect((await call('stamp', {})).json).toMatchObject({ status: 'executed' });
    expect(await spentToday()).toEqual([{ amount: 6_085, currency: 'eur' }]);
  });

  it('says in the action and in its deed what was spent', async () => {
    const { json } = await call('stamp', {});
    expect(json['cost']).toEqual({ amount: 85, currency: 'eur' });
    const deed = await asAdmin('GET', `/v1/deeds/${String(json['deed'])}`);
    expect(deed).toMatchObject({ cost: { amount: 85, currency: 'eur' } });
    const refused = await refund(1_001);
    expect(refused.json).toMatchObject({ error: { action: { cost: null } } });
  });

  it('is refused by a budget of another currency', async () => {
    const foreign = await refund(1, 'usd');
    expect(foreign).toMatchObject({ status: 403, json: { error: { code: 'policy_denied' } } });
    expect(foreign.text).toContain('spends usd');
  });

  it('is not let past its budgets by a currency that is none', async () => {
    const { json } = await refund(9_000, 'Eur');
    expect(json).toMatchObject({ status: 'failed', execution: { error_code: 'validation_failed' } });
    expect(upstream.seen.filter(({ path }) => path === '/v1/refunds')).toHaveLength(3);
  });
});
