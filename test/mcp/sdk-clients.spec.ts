import { Client as Client2, StreamableHTTPClientTransport as Transport2 } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as Transport1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type Browser, PeopleBench } from '../support/people-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const ID = { in: 'path', type: 'string', required: true };
const TOOL = (name: string, method: string, path: string) => ({ name, method, path, args: { id: ID } });
const policy = (hidden: string): string => `version: 1
default: deny
rules:
  - id: hidden
    match:
      tools:
        - ${hidden}
    decision: deny
  - id: asked
    match:
      tools:
        - crm.note
    decision: require_approval
  - id: others
    match:
      tools:
        - crm.*
    decision: allow
`;

const PATIENCE = { timeout: 20_000, interval: 20 };

let bench: PeopleBench;
let upstream: Upstream;
let admin: Browser;
let owner: Browser;
let seenBefore = 0;

beforeAll(async () => {
  bench = await PeopleBench.start({ SERVICE_ENV: 'dev' });
  upstream = await startUpstream(({ path }, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ path }));
  });
  [admin, owner] = [bench.browser(), await bench.ownerBrowser()];
  await enforce(policy('crm.never'));
  const config = {
    base_url: upstream.baseUrl,
    auth: { kind: 'none' },
    allowed_methods: ['GET', 'POST', 'DELETE'],
    allowed_path_prefixes: ['/v1'],
    tools: [
      TOOL('get', 'GET', '/v1/{id}'),
      TOOL('note', 'POST', '/v1/{id}/notes'),
      TOOL('never', 'DELETE', '/v1/{id}'),
    ],
  };
  const made = await admin.post('/v1/connectors', { type: 'rest', name: 'crm', config }, bench.adminKey);
  expect(made.status).toBe(201);
});
afterAll(async () => {
  await bench?.close();
  await upstream?.close();
});
beforeEach(() => {
  seenBefore = upstream.seen.length;
});

const enforce = async (source: string): Promise<void> => {
  const { json } = await admin.post('/v1/policies', { name: 'MCP', source }, bench.adminKey);
  const path = `/v1/policies/${String(json['id'])}/versions/1/activate`;
  expect((await admin.post(path, { mode: 'enforce' }, bench.adminKey)).status).toBe(200);
};
const requests = () => upstream.seen.slice(seenBefore).map(({ method, path }) => `${method} ${path}`);
const approve = async (id: string): Promise<void> => {
  const pending = await vi.waitFor(async () => {
    const { json } = await owner.get('/v1/approvals?status=pending');
    const [first] = json['data'] as { id: string; context_digest: string }[];
    if (first === undefined) throw new Error('nobody was asked yet');
    return first;
  }, PATIENCE);
  const shown = await owner.get(`/v1/approvals/${pending.id}`);
  expect(JSON.stringify(shown.json)).toContain(id);
  const answer = await owner.post(`/v1/approvals/${pending.id}/approve`, {
    context_digest: shown.json['context_digest'],
  });
  expect(answer.status).toBe(200);
};
const door = (): URL => new URL(`${bench.url}/mcp/crm`);
const requestInit = () => ({ headers: bench.agentKey });

interface Called {
  readonly isError?: unknown;
  readonly content?: unknown;
  readonly _meta?: Record<string, unknown> | undefined;
}
interface SdkClient {
  names(): Promise<string[]>;
  call(name: string, args: Record<string, unknown>, meta?: Record<string, unknown>): Promise<Called>;
  onListChanged(heard: () => void): Promise<void>;
  close(): Promise<void>;
}

const sdk1 = async (): Promise<SdkClient> => {
  const client = new Client1({ name: 'sdk-1', version: '1' });
  await client.connect(new Transport1(door(), { requestInit: requestInit() }));
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, _meta) => client.callTool({ name, arguments: args, ...(_meta && { _meta }) }),
    onListChanged: async (heard) => client.setNotificationHandler(ToolListChangedNotificationSchema, heard),
    close: () => client.close(),
  };
};
const sdk2 = (mode: 'legacy' | 'auto' | { readonly pin: string }) => async (): Promise<SdkClient> => {
  const client = new Client2({ name: 'sdk-2', version: '1' }, { versionNegotiation: { mode } });
  await client.connect(new Transport2(door(), { requestInit: requestInit() }));
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args, _meta) => client.callTool({ name, arguments: args, ...(_meta && { _meta }) }),
    onListChanged: async (heard) => {
      client.setNotificationHandler('notifications/tools/list_changed', heard);
      if (mode !== 'legacy') await client.listen({ toolsListChanged: true });
    },
    close: () => client.close(),
  };
};

describe.each<[string, () => Promise<SdkClient>]>([
  ['@modelcontextprotocol/sdk 1', sdk1],
  ['@modelcontextprotocol/client 2, as before 2026', sdk2('legacy')],
  ['@modelcontextprotocol/client 2, by what the server speaks', sdk2('auto')],
  ['@modelcontextprotocol/client 2, of 2026-07-28', sdk2({ pin: '2026-07-28' })],
])('the client %s, unchanged', (_, connect) => {
  let client: SdkClient;
  beforeEach(async () => {
    client = await connect();
    return () => client.close();
  });

  it('lists the tools that its agent may call', async () => {
    expect(await client.names()).toEqual(['get', 'note', 'service_await_action']);
  });

  it('calls a tool, once', async () => {
    const answer = await client.call('get', { id: '42' });
    expect(answer).toMatchObject({ isError: false, content: [{ type: 'text', text: '{"path":"/v1/42"}' }] });
    expect(answer._meta).toMatchObject({ 'service/status': 'executed' });
    expect(requests()).toEqual(['GET /v1/42']);
  });

  it('calls it once under one key', async () => {
    const meta = { 'service/idempotency_key': `key of ${String(Math.random())}` };
    const [first, second] = [await client.call('get', { id: '7' }, meta), await client.call('get', { id: '7' }, meta)];
    expect(second._meta?.['service/action']).toBe(first._meta?.['service/action']);
    expect(requests()).toEqual(['GET /v1/7']);
  });

  it('reads a refusal as what a tool says', async () => {
    const answer = await client.call('never', { id: '1' });
    expect(answer).toMatchObject({ isError: true });
    expect(JSON.stringify(answer.content)).toContain('policy_denied');
    expect(requests()).toEqual([]);
  });

  it('is told of a tool that there is not', async () => {
    await expect(client.call('nothing', {})).rejects.toThrow(/no tool nothing/);
  });

  it('waits for a person, and gets the result', async () => {
    const id = `waits-${String(Math.random()).slice(2)}`;
    const [answer] = await Promise.all([client.call('note', { id }), approve(id)]);
    expect(answer).toMatchObject({ isError: false });
    expect(requests()).toEqual([`POST /v1/${id}/notes`]);
  });

  it('hears that its tools are other ones', async () => {
    const heard = vi.fn<() => void>();
    await client.onListChanged(heard);
    await enforce(policy('crm.get'));
    await vi.waitFor(() => expect(heard).toHaveBeenCalled(), PATIENCE);
    expect(await client.names()).toEqual(['note', 'never', 'service_await_action']);
    await enforce(policy('crm.never'));
  });
});
