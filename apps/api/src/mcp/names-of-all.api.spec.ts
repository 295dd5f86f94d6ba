import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { McpClient, type RpcReplied } from '../../../../test/support/mcp-client.js';
import { type ScriptedServer, startScriptedServer, TOOL } from '../../../../test/support/mcp-server.js';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';

const POLICY = `version: 1
default: deny
rules:
  - id: all
    match:
      tools:
        - twin.*
    decision: allow
`;
const PATIENCE = { timeout: 20_000, interval: 20 };
const named = (name: string, description: string) => ({ ...TOOL, name, description });

let bench: PeopleBench;
let server: ScriptedServer;
let admin: Browser;
let all: McpClient;

beforeAll(async () => {
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  server = await startScriptedServer();
  admin = bench.browser();
  all = new McpClient(`${bench.url}/mcp`, bench.agentKey);
  const policy = await admin.post('/v1/policies', { name: 'MCP', source: POLICY }, bench.adminKey);
  const path = `/v1/policies/${String(policy.json['id'])}/versions/1/activate`;
  expect((await admin.post(path, { mode: 'enforce' }, bench.adminKey)).status).toBe(200);
  server.set({ 'tools/list': () => ({ tools: [named('a_b', 'first'), named('c', 'c')] }) });
  const config = { url: server.url.replace('mcp.example', '127.0.0.1'), auth: { kind: 'none' }, tools_ttl_ms: 0 };
  const made = await admin.post('/v1/connectors', { type: 'mcp_http', name: 'twin', config }, bench.adminKey);
  expect(made.status).toBe(201);
  await vi.waitFor(async () => {
    expect(await listed()).toEqual(['twin__a_b', 'twin__c', 'service_await_action']);
  }, PATIENCE);
});
afterAll(async () => {
  await bench?.close();
  await server?.close();
});

const namesIn = ({ result }: RpcReplied): string[] => (result['tools'] as { name: string }[]).map(({ name }) => name);
const listed = (): Promise<string[]> => all.modern('tools/list').then(namesIn);

it('a name at /mcp is no other tool’s while the tool that has it is held, or gone', async () => {
  for (const tools of [[named('a_b', 'changed'), named('a.b', 'another')], [named('a.b', 'another')]]) {
    server.set({ 'tools/list': () => ({ tools: [...tools, named('c', 'c')] }) });
    expect((await admin.post('/v1/connectors/twin/tools/refresh', {}, bench.adminKey)).status).toBe(200);
    expect(await listed()).toEqual(['twin__c', 'service_await_action']);
    const called = await all.modern('tools/call', { name: 'twin__a_b', arguments: {} });
    expect(called.error).toMatchObject({ code: -32602, data: { code: 'tool_unknown' } });
  }
  expect(server.of('tools/call')).toEqual([]);
});

it('a held tool is hidden from whoever asks for it by its name', async () => {
  server.set({ 'tools/list': () => ({ tools: [named('c', 'changed'), named('a_b', 'first')] }) });
  expect((await admin.post('/v1/connectors/twin/tools/refresh', {}, bench.adminKey)).status).toBe(200);
  const asked = { connector: 'twin', tools: [{ name: 'c' }, { name: 'a_b' }] };
  const { json } = await admin.post('/v1/tools/resolve', asked, bench.agentKey);
  expect(json['data']).toMatchObject([
    { name: 'c', visibility: 'hidden', rule_id: null, reason: 'tool_changed' },
    { name: 'a_b', visibility: 'visible' },
  ]);
});

it('a call of a held tool by its name at /mcp is refused as one that its server changed', async () => {
  const { result } = await all.modern('tools/call', { name: 'twin__c', arguments: {} });
  expect(result).toMatchObject({ isError: true, _meta: { 'service/code': 'policy_denied' } });
  expect(JSON.stringify(result['content'])).toContain('describes the tool c otherwise than was accepted');
});

it.each([
  ['twin__d', 'The connector twin has no tool d.'],
  ['other__d', '<connector>__<tool>'],
  ['d', '<connector>__<tool>'],
])('a call of %s, which is no tool, says what is wrong with the name', async (name, message) => {
  const { error } = await all.modern('tools/call', { name, arguments: {} });
  expect(error).toMatchObject({ code: -32602, message: expect.stringContaining(message) as string });
});
