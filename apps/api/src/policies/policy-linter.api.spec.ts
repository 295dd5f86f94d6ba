import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bearer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { PoliciesModule } from './policies.module.js';

type Json = Record<string, unknown>;

const REFUND = { name: 'refund', method: 'POST', path: '/v1/refunds' };
const config = (args: object) => ({
  base_url: 'https://pay.example.com',
  allowed_methods: ['GET', 'POST'],
  allowed_path_prefixes: ['/v1'],
  tools: [{ ...REFUND, args }],
});
const AMOUNT = { amount: { in: 'body', type: 'integer', required: true } };
const SOURCE = `version: 1
default: deny
rules:
  - id: small
    match:
      tools:
        - pay.refund
    when: args.amount <= 50
    decision: allow
`;
const MISSPELT = SOURCE.replace('args.amount', 'args.amuont');

let bench: ApiBench;

const send = async (method: string, path: string, body: object) =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const codesOf = (json: Json | null, member = 'diagnostics'): unknown[] =>
  (json?.[member] as Json[]).map(({ code, line }) => [code, line]);

beforeAll(async () => {
  bench = await ApiBench.start([PoliciesModule, ConnectorsModule]);
  await bench.ownAdminKey();
  await send('POST', '/v1/connectors', { type: 'rest', name: 'pay', config: config(AMOUNT) });
});
afterAll(() => bench.close());

describe('a source beside the tools of the organization', () => {
  it('is linted against the arguments that its tools declare', async () => {
    const sound = await send('POST', '/v1/policies/lint', { source: SOURCE });
    expect(sound.json).toEqual({ object: 'policy_lint', valid: true, diagnostics: [] });
    const { json } = await send('POST', '/v1/policies/lint', { source: MISSPELT });
    expect(json).toMatchObject({
      valid: true,
      diagnostics: [{ severity: 'warning', code: 'unknown_argument', line: 8 }],
    });
    expect((json?.['diagnostics'] as Json[])[0]?.['hint']).toContain('Did you mean amount?');
  });

  it('is saved with its warnings, as a policy and as a version', async () => {
    const created = await send('POST', '/v1/policies', { name: 'Refunds', source: MISSPELT });
    expect([created.status, codesOf(created.json)]).toEqual([201, [['unknown_argument', 8]]]);
    const versions = `/v1/policies/${String(created.json?.['id'])}/versions`;
    const added = await send('POST', versions, { source: SOURCE });
    expect([added.status, codesOf(added.json)]).toEqual([201, []]);
    const again = await send('POST', versions, { source: MISSPELT });
    expect([again.status, codesOf(again.json)]).toEqual([200, [['unknown_argument', 8]]]);
  });

  it('is told that no connector has the tools of a rule', async () => {
    const source = SOURCE.replace('pay.refund', 'mail.send');
    expect(codesOf((await send('POST', '/v1/policies/lint', { source })).json)).toEqual([['no_such_tool', 4]]);
  });
});

describe('a changed connector', () => {
  const change = (args: object) => send('PATCH', '/v1/connectors/pay', { config: config(args) });

  it('answers with what it causes in the enforced policy, once', async () => {
    const { json } = await send('POST', '/v1/policies', { name: 'Enforced', source: SOURCE });
    const text = { amount: { in: 'body', type: 'string', required: true } };
    expect(codesOf((await change(text)).json, 'policy_warnings')).toEqual([]);
    await change(AMOUNT);
    await send('POST', `/v1/policies/${String(json?.['id'])}/versions/1/activate`, { mode: 'enforce' });
    expect(codesOf((await change(text)).json, 'policy_warnings')).toEqual([['argument_type', 8]]);
    const described = await send('PATCH', '/v1/connectors/pay', { description: 'Refunds' });
    expect(described.json?.['policy_warnings']).toEqual([]);
    const optional = { amount: { in: 'body', type: 'integer' } };
    expect(codesOf((await change(optional)).json, 'policy_warnings')).toEqual([['optional_argument', 8]]);
    expect(codesOf((await change(AMOUNT)).json, 'policy_warnings')).toEqual([]);
  });
});
