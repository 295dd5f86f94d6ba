import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: refunds
    match:
      tools:
        - pay.*
    decision: require_approval
`;
const ARGS = {
  amount: { in: 'body', type: 'integer', required: true, money: { currency_arg: 'currency' } },
  currency: { in: 'body', type: 'string' },
  fee: { in: 'body', type: 'integer', money: { currency: 'kwd' } },
};
const configOf = (baseUrl: string, more: object = {}) => ({
  base_url: baseUrl,
  allowed_methods: ['POST'],
  allowed_path_prefixes: ['/v1'],
  tools: [
    { name: 'refund', title: 'refund a customer', method: 'POST', path: '/v1/refunds', args: ARGS },
    { name: 'charge', method: 'POST', path: '/v1/charges', args: { amount: { in: 'body', type: 'integer' } } },
  ],
  ...more,
});

let upstream: Upstream;
let bench: PeopleBench;
let admin: Browser;

beforeAll(async () => {
  upstream = await startUpstream();
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  admin = await bench.member(await bench.ownerBrowser(), 'admin@example.com', 'admin');
  const connector = { type: 'rest', name: 'pay', config: configOf(upstream.baseUrl) };
  expect((await admin.post('/v1/connectors', connector)).status).toBe(201);
  const policy = await admin.post('/v1/policies', { name: 'Refunds', source: POLICY });
  const activate = `/v1/policies/${policy.json['id'] as string}/versions/1/activate`;
  expect((await admin.post(activate, { mode: 'enforce' })).status).toBe(200);
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});

const held = async (tool: string, args: object): Promise<string> => {
  const { status, json } = await bench.browser().post('/v1/actions', { tool, args, wait: 0 }, bench.agentKey);
  expect(status).toBe(202);
  return json['id'] as string;
};
const approvalOf = (action: string): string => action.replace('act_', 'apr_');
const contextOf = async (action: string): Promise<unknown> =>
  (await admin.get(`/v1/approvals/${approvalOf(action)}`)).json['context'];
const amountsOf = async (action: string): Promise<unknown> =>
  (await admin.get(`/v1/actions/${action}`)).json['amounts'];

const shown = (argument: string, currency: string, display: string) => ({ argument, currency, display, hint: null });

describe('an argument that is marked as an amount', () => {
  it('is shown as money beside what is sent, in the approval and in the action', async () => {
    const action = await held('pay.refund', { amount: 8_000, currency: 'eur', fee: 1_500 });
    const amounts = [shown('amount', 'eur', '€80.00'), shown('fee', 'kwd', 'KWD\u00a01.500')];
    expect(await contextOf(action)).toMatchObject({
      tool: { name: 'pay.refund', title: 'refund a customer' },
      args: { amount: 8_000, currency: 'eur', fee: 1_500 },
      amounts,
      changed: [],
    });
    expect(await amountsOf(action)).toEqual(amounts);
  });

  it('is shown as it is, and why, where the call names no currency', async () => {
    const action = await held('pay.refund', { amount: 8_000 });
    const hint = 'The call does not say in which currency: it has no argument currency.';
    const amounts = [{ argument: 'amount', currency: null, display: null, hint }];
    expect(await contextOf(action)).toMatchObject({ amounts });
    expect(await amountsOf(action)).toEqual(amounts);
  });

  it('is none of a tool that marks none, and such a tool needs no title', async () => {
    const action = await held('pay.charge', { amount: 8_000 });
    expect(await contextOf(action)).toMatchObject({ tool: { title: null }, amounts: [] });
    expect(await amountsOf(action)).toEqual([]);
  });

  it('stands in the mail, with what the agent wants', async () => {
    const action = await held('pay.refund', { amount: 8_000, currency: 'EUR' });
    const text = await vi.waitFor(
      async () => {
        const waiting = await bench.deployment.people.desk.waiting();
        const found = waiting.find(({ id }) => id.startsWith(`${approvalOf(action)}.`));
        if (!found) throw new Error('no mail yet');
        return found.mail.text;
      },
      { timeout: 30_000, interval: 50 },
    );
    expect(text).toContain('wants to "refund a customer" with "pay.refund"');
    expect(text).toContain('"amount" is €80.00 (sent as 8000, in minor units).');
  });

  it('keeps what a person looked at, and is no longer money where the tool has changed since', async () => {
    const action = await held('pay.refund', { amount: 8_000, currency: 'eur' });
    const amounts = [shown('amount', 'eur', '€80.00')];
    expect((await admin.post(`/v1/approvals/${approvalOf(action)}/deny`, {})).status).toBe(200);
    const changed = configOf(upstream.baseUrl, { headers: { 'X-Tier': 'gold' } });
    expect((await admin.send('PATCH', '/v1/connectors/pay', { config: changed })).status).toBe(200);
    expect(await contextOf(action)).toMatchObject({ tool: { title: 'refund a customer' }, amounts });
    expect(await amountsOf(action)).toEqual([]);
    const back = configOf(upstream.baseUrl);
    expect((await admin.send('PATCH', '/v1/connectors/pay', { config: back })).status).toBe(200);
    expect(await amountsOf(action)).toEqual(amounts);
  });

  it('is a list of titles and names for whoever reads the tools', async () => {
    const { json } = await admin.get('/v1/tools');
    const titles = (json['data'] as readonly { name: string; title: string | null }[]).map((tool) => [
      tool.name,
      tool.title,
    ]);
    expect(titles).toEqual([
      ['pay.refund', 'refund a customer'],
      ['pay.charge', null],
    ]);
  });
});
