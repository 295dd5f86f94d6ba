import { Module } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentDecider } from '#libs/domain/agents';
import { OPERATOR, timestampOf } from '#libs/domain/kernel';
import { bearer } from '../../../../test/http/edge-client.js';
import { AGENT, ORG } from '../../../../test/http/edge-harness.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import { ConnectorsModule } from '../connectors/connectors.module.js';
import { OrganizationTools } from '../connectors/organization-tools.js';
import { ServedWords } from '../connectors/served-words.js';
import { PoliciesModule } from '../policies/policies.module.js';
import { OfferedTools } from './offered-tools.js';
import { ResolveToolsController } from './resolve-tools.controller.js';

@Module({
  imports: [PoliciesModule, ConnectorsModule],
  controllers: [ResolveToolsController],
  providers: [OfferedTools, OrganizationTools, ServedWords],
})
class ResolveToolsModule {}

type Json = Record<string, unknown>;

const SOURCE = `version: 1
default: deny
rules:
  - id: no-deletes
    match:
      tools:
        - '*.delete_*'
    decision: deny
  - id: support
    match:
      tools:
        - crm.*
      agents:
        - support-*
    decision: allow
`;

let bench: ApiBench;

const send = (path: string, body: unknown, token: string) =>
  bench.send('POST', path, {
    headers: { ...bearer(token), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
const resolve = (names: readonly string[], connector = 'crm', token = 'agent') =>
  send('/v1/tools/resolve', { connector, tools: names.map((name) => ({ name })) }, token);
const told = async (...asked: Parameters<typeof resolve>) => {
  const { status, json } = await resolve(...asked);
  expect([status, json?.['object'], json?.['has_more'], json?.['next_cursor']]).toEqual([200, 'list', false, null]);
  return (json?.['data'] as Json[]).map((each) => [each['tool'], each['visibility'], each['rule_id'], each['reason']]);
};

beforeAll(async () => {
  bench = await ApiBench.start([ResolveToolsModule]);
  await bench.ownAdminKey();
  const now = timestampOf(Date.now());
  const metadata = { org: ORG, actor: OPERATOR, requestId: null, commandId: 'register', now };
  const data = { org: ORG, agent: AGENT, name: 'support-1', labels: {}, owner: null };
  await bench.ledger.runner.run(agentDecider, AGENT, { type: 'RegisterAgent', data, metadata }, metadata);
});
afterAll(() => bench.close());

describe('POST /v1/tools/resolve', () => {
  it('hides every tool if no policy is enforced', async () => {
    expect((await resolve(['get_customer'])).json?.['policy_version']).toBeNull();
    expect(await told(['get_customer'])).toEqual([['crm.get_customer', 'hidden', null, 'no policy enforced']]);
  });

  describe('under a policy', () => {
    let version: string;

    beforeAll(async () => {
      const { json } = await send('/v1/policies', { name: 'Support', source: SOURCE }, 'admin');
      version = String((json?.['latest_version'] as Json)['id']);
      const path = `/v1/policies/${String(json?.['id'])}/versions/1/activate`;
      expect((await send(path, { mode: 'enforce' }, 'admin')).status).toBe(200);
    });

    it('judges each tool, in the order sent, and names the policy version', async () => {
      const { json } = await resolve(['get_customer']);
      expect(json).toEqual({
        object: 'list',
        data: [
          {
            object: 'tool_visibility',
            name: 'get_customer',
            tool: 'crm.get_customer',
            visibility: 'visible',
            rule_id: 'support',
            reason: 'rule support',
          },
        ],
        has_more: false,
        next_cursor: null,
        policy_version: version,
      });
      expect(await told(['delete_customer', 'get_customer'])).toEqual([
        ['crm.delete_customer', 'hidden', 'no-deletes', 'rule no-deletes'],
        ['crm.get_customer', 'visible', 'support', 'rule support'],
      ]);
      expect(await told(['post'], 'chat')).toEqual([['chat.post', 'hidden', null, 'default deny']]);
    });

    it('hides a tool whose name is malformed', async () => {
      const unknown = ['get customer', 'gеt', '', 'x'.repeat(200)];
      expect((await told(unknown)).map(([, ...rest]) => rest)).toEqual(
        unknown.map(() => ['hidden', null, 'tool_unknown']),
      );
      expect(await told(['get'], 'CRM')).toEqual([['CRM.get', 'hidden', null, 'tool_unknown']]);
    });

    it('records nothing', async () => {
      const head = await bench.store.head();
      await resolve(['get_customer']);
      expect(await bench.store.head()).toBe(head);
    });
  });

  describe('without tools', () => {
    const tool = (name: string) => ({ name, method: 'GET', path: `/v1/${name}`, description: `Reads ${name}` });
    const config = (tools: readonly object[]) => ({
      base_url: 'https://api.example.com',
      allowed_methods: ['GET', 'DELETE'],
      allowed_path_prefixes: ['/v1'],
      tools,
    });
    const connector = async (name: string, tools: readonly object[]): Promise<void> => {
      const body = { type: 'rest', name, config: config(tools) };
      expect((await send('/v1/connectors', body, 'admin')).status).toBe(201);
    };
    const page = async (body: object) => {
      const { status, json } = await send('/v1/tools/resolve', body, 'agent');
      expect([status, json?.['object']]).toEqual([200, 'list']);
      return json as Json & { data: Json[]; has_more: boolean; next_cursor: string | null };
    };

    beforeAll(async () => {
      await connector('crm', [
        { ...tool('get_order'), args: { id: { in: 'query', type: 'string', required: true } } },
        { ...tool('delete_order'), method: 'DELETE' },
      ]);
      await connector('chat', [tool('read')]);
    });

    it('lists all tools by connector and name, the visible ones with their descriptions', async () => {
      const { data, has_more, next_cursor, policy_version } = await page({});
      expect([has_more, next_cursor, typeof policy_version]).toEqual([false, null, 'string']);
      expect(data).toEqual([
        {
          ...{ object: 'tool_visibility', name: 'read', tool: 'chat.read', visibility: 'hidden', rule_id: null },
          ...{ reason: 'default deny', description: null, input_schema: null },
        },
        {
          ...{ object: 'tool_visibility', name: 'delete_order', tool: 'crm.delete_order', visibility: 'hidden' },
          ...{ rule_id: 'no-deletes', reason: 'rule no-deletes', description: null, input_schema: null },
        },
        {
          ...{ object: 'tool_visibility', name: 'get_order', tool: 'crm.get_order', visibility: 'visible' },
          ...{ rule_id: 'support', reason: 'rule support', description: 'Reads get_order' },
          input_schema: expect.objectContaining({ required: ['id'], additionalProperties: false }) as object,
        },
      ]);
    });

    it('lists the tools of one connector, and refuses an unknown connector', async () => {
      expect((await page({ connector: 'crm' })).data.map(({ tool: name }) => name)).toEqual([
        'crm.delete_order',
        'crm.get_order',
      ]);
      const { status, error } = await send('/v1/tools/resolve', { connector: 'nobody' }, 'agent');
      expect([status, error['code'], error['param']]).toEqual([404, 'not_found', 'connector']);
    });

    it('hides the tools of a disabled connector', async () => {
      const patch = (status: string) =>
        bench.send('PATCH', '/v1/connectors/crm', {
          headers: { ...bearer('admin'), 'Content-Type': 'application/json' },
          body: JSON.stringify({ status }),
        });
      expect((await patch('disabled')).status).toBe(200);
      expect((await page({ connector: 'crm' })).data).toMatchObject([
        { visibility: 'hidden', reason: 'connector disabled', description: null, input_schema: null },
        { visibility: 'hidden', reason: 'connector disabled', description: null, input_schema: null },
      ]);
      expect((await patch('active')).status).toBe(200);
    });

    it('lists many tools in pages of 500, each once', async () => {
      const many = Array.from({ length: 64 }, (_, index) => tool(`t${index}`));
      for (let count = 0; count < 8; count += 1) await connector(`many-${count}`, many);
      const first = await page({});
      expect([first.data.length, first.has_more]).toEqual([500, true]);
      const second = await page({ cursor: first.next_cursor });
      expect([second.has_more, second.next_cursor]).toEqual([false, null]);
      const names = [...first.data, ...second.data].map(({ tool: name }) => name);
      expect(new Set(names).size).toBe(8 * 64 + 3);
      expect(names).toHaveLength(8 * 64 + 3);
      // The cursor was issued for a list of all connectors, so it is invalid for one connector.
      const { error } = await send('/v1/tools/resolve', { connector: 'crm', cursor: first.next_cursor }, 'agent');
      expect([error['code'], error['param']]).toEqual(['validation_failed', 'cursor']);
    });
  });

  it('is what GET /v1/tools tells an agent to use', async () => {
    const { status, error } = await bench.send('GET', '/v1/tools', { headers: bearer('agent') });
    expect([status, error['code']]).toEqual([403, 'insufficient_scope']);
    expect(error['message']).toContain('POST /v1/tools/resolve');
  });

  it('takes 500 tools and no more', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `tool_${index}_${'x'.repeat(110)}`);
    expect(await told(many(500))).toHaveLength(500);
    const { status, error } = await resolve(many(501));
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', 'tools']);
    expect(await told([])).toEqual([]);
  });

  it.each([
    [{ tools: [] }, 'connector'],
    [{ tools: [{ name: 'a' }] }, 'connector'],
    [{ connector: 'crm', tools: null }, 'tools'],
    [{ connector: 'crm', tools: [], cursor: 'x' }, 'cursor'],
    [{ cursor: 'never issued' }, 'cursor'],
    [{ connector: 5 }, 'connector'],
    [{ connector: 'crm', tools: 'get' }, 'tools'],
    [{ connector: 'crm', tools: [{ name: 'a' }, {}] }, 'tools[1].name'],
    [{ connector: 'crm', tools: [{ name: 'a', title: 'A' }] }, 'tools[0].title'],
  ])('refuses %j, param %s', async (body, param) => {
    const { status, error } = await send('/v1/tools/resolve', body, 'agent');
    expect([status, error['code'], error['param']]).toEqual([400, 'validation_failed', param]);
  });

  it('is for agents that may execute', async () => {
    for (const token of ['admin', 'reader']) {
      const { status, error } = await resolve(['get'], 'crm', token);
      expect([status, error['code']]).toEqual([403, 'insufficient_scope']);
    }
  });
});
