import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { McpClient, type RpcReplied } from '../../../../test/support/mcp-client.js';
import { MODERN_ANSWERS, type ScriptedServer, startScriptedServer, TOOL } from '../../../../test/support/mcp-server.js';
import { type Browser, PeopleBench } from '../../../../test/support/people-bench.js';
import { startUpstream, type Upstream } from '../../../../test/support/upstream.js';

const POLICY = `version: 1
default: deny
rules:
  - id: hidden
    match:
      tools:
        - crm.delete_customer
    decision: deny
    message: Customers are never deleted by an agent.
  - id: asked
    match:
      tools:
        - crm.add_note
    decision: require_approval
  - id: rest
    match:
      tools:
        - crm.*
        - srv.*
    decision: allow
`;
const ID = { in: 'path', type: 'string', required: true };
const CRM = (url: string) => ({
  base_url: url,
  auth: { kind: 'none' },
  allowed_methods: ['GET', 'POST', 'DELETE'],
  allowed_path_prefixes: ['/v1'],
  tools: [
    {
      name: 'get_customer',
      title: 'look a customer up',
      description: 'Name and address of a customer.',
      method: 'GET',
      path: '/v1/customers/{id}',
      args: { id: ID },
    },
    {
      name: 'add_note',
      method: 'POST',
      path: '/v1/customers/{id}/notes',
      args: { id: ID, text: { in: 'body', type: 'string', required: true } },
    },
    { name: 'delete_customer', method: 'DELETE', path: '/v1/customers/{id}', args: { id: ID } },
  ],
});

const PATIENCE = { timeout: 20_000, interval: 20 };

let bench: PeopleBench;
let upstream: Upstream;
let server: ScriptedServer;
let admin: Browser;
let crm: McpClient;
let srv: McpClient;
let all: McpClient;
let seenBefore = 0;

beforeAll(async () => {
  bench = await PeopleBench.start({
    SERVICE_ENV: 'dev',
    SERVICE_MCP_ORIGINS: 'https://inspector.example',
    SERVICE_DOCS_URL: 'https://docs.example.com/ags',
  });
  upstream = await startUpstream(({ path }, response) => {
    const status = path.endsWith('/gone') ? 404 : 200;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ name: 'Ada', path }));
  });
  server = await startScriptedServer();
  admin = bench.browser();
  await enforce(POLICY);
  for (const [type, name, config] of [
    ['rest', 'crm', CRM(upstream.baseUrl)],
    [
      'mcp_http',
      'srv',
      { url: server.url.replace('mcp.example', '127.0.0.1'), auth: { kind: 'none' }, tools_ttl_ms: 0 },
    ],
  ] as const) {
    expect((await admin.post('/v1/connectors', { type, name, config }, bench.adminKey)).status).toBe(201);
  }
  [crm, srv, all] = ['/mcp/crm', '/mcp/srv', '/mcp'].map(
    (door) => new McpClient(`${bench.url}${door}`, bench.agentKey),
  ) as [McpClient, McpClient, McpClient];
});
afterAll(async () => {
  await bench?.close();
  await Promise.all([upstream?.close(), server?.close()]);
});
beforeEach(() => {
  seenBefore = upstream.seen.length;
});
afterEach(() => server.set(MODERN_ANSWERS));

const enforce = async (source: string): Promise<void> => {
  const made = await admin.post('/v1/policies', { name: 'MCP', source }, bench.adminKey);
  const path = `/v1/policies/${String(made.json['id'])}/versions/1/activate`;
  expect((await admin.post(path, { mode: 'enforce' }, bench.adminKey)).status).toBe(200);
};
/** Of the test that runs. */
const requests = () => upstream.seen.slice(seenBefore);
const meta = ({ result }: RpcReplied) => result['_meta'] as Record<string, unknown>;
const textOf = ({ result }: RpcReplied): string =>
  (result['content'] as { text: string }[]).map(({ text }) => text).join('\n');
const namesIn = ({ result }: RpcReplied): string[] => (result['tools'] as { name: string }[]).map(({ name }) => name);
const get = (id = '42', options = {}) => crm.modern('tools/call', { name: 'get_customer', arguments: { id } }, options);
const ADD = { name: 'add_note', arguments: { id: '42', text: 'rang' } };
const decide = async (action: unknown, decision: 'approve' | 'deny'): Promise<void> => {
  const { json } = await admin.get(`/v1/actions/${String(action)}`, bench.adminKey);
  const { id } = json['approval'] as { id: string };
  const owner = await bench.ownerBrowser();
  const shown = await owner.get(`/v1/approvals/${id}`);
  const answer = await owner.post(`/v1/approvals/${id}/${decision}`, { context_digest: shown.json['context_digest'] });
  expect(answer.status).toBe(200);
};

describe('the tools of a door', () => {
  it('are those that the policy does not deny for every call, and the one that waits', async () => {
    const { result } = await crm.modern('tools/list');
    expect(result).toMatchObject({ resultType: 'complete', ttlMs: 30_000, cacheScope: 'private' });
    expect(namesIn(await crm.modern('tools/list'))).toEqual(['get_customer', 'add_note', 'service_await_action']);
    expect((result['tools'] as unknown[])[0]).toMatchObject({
      name: 'get_customer',
      title: 'Look a customer up',
      description: 'Name and address of a customer.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } } },
      annotations: { readOnlyHint: true, destructiveHint: false },
    });
  });

  it('are told to a client of a handshake without what it does not know', async () => {
    const { result } = await crm.legacy('tools/list');
    expect(Object.keys(result)).toEqual(['tools']);
  });

  it('of a server are as it describes them, and a held one is not there', async () => {
    server.set({ 'tools/list': () => ({ tools: [{ ...TOOL, title: 'Search', 'x-other': 1 }] }) });
    const config = { url: server.url.replace('mcp.example', '127.0.0.1'), auth: { kind: 'none' }, tools_ttl_ms: 0 };
    const made = await admin.post('/v1/connectors', { type: 'mcp_http', name: 'other', config }, bench.adminKey);
    expect(made.status).toBe(201);
    await enforce(POLICY.replace('- srv.*', '- srv.*\n        - other.*'));
    const other = new McpClient(`${bench.url}/mcp/other`, bench.agentKey);
    const first = await other.modern('tools/list');
    expect(first.result).toMatchObject({
      tools: [{ ...TOOL, title: 'Search' }, { name: 'service_await_action' }],
      ttlMs: 0,
    });
    expect((first.result['tools'] as object[])[0]).not.toHaveProperty('x-other');
    server.set({ 'tools/list': () => ({ tools: [{ ...TOOL, description: 'Sends it elsewhere.' }] }) });
    const listed = (): Promise<string[]> => other.modern('tools/list').then(namesIn);
    await vi.waitFor(async () => expect(await listed()).toEqual(['service_await_action']), PATIENCE);
    server.set({ 'tools/list': () => ({ tools: [{ ...TOOL, title: 'Search' }] }) });
    await vi.waitFor(async () => expect(await listed()).toEqual(['search', 'service_await_action']), PATIENCE);
  });

  it('of all connectors have the name of theirs before their own', async () => {
    await vi.waitFor(async () => {
      expect(namesIn(await all.modern('tools/list'))).toEqual(
        expect.arrayContaining(['crm__get_customer', 'crm__add_note', 'service_await_action']),
      );
    }, PATIENCE);
    const called = await all.modern('tools/call', { name: 'crm__get_customer', arguments: { id: '7' } });
    expect(textOf(called)).toBe('{"name":"Ada","path":"/v1/customers/7"}');
    const qualified = await all.legacy('tools/call', { name: 'crm.get_customer', arguments: { id: '7' } });
    expect(meta(qualified)).toMatchObject({ 'service/status': 'executed' });
  });

  it('of no connector: 404', async () => {
    for (const name of ['nobody', '%00', 'CRM', 'x'.repeat(500)]) {
      const nobody = new McpClient(`${bench.url}/mcp/${name}`, bench.agentKey);
      expect(await nobody.modern('tools/list')).toMatchObject({ status: 404, error: { code: 'not_found' } });
    }
  });
});

describe('a call', () => {
  it('is an action with a deed, and answers with what its tool said', async () => {
    const answer = await get();
    expect(answer.status).toBe(200);
    expect(answer.result).toMatchObject({
      resultType: 'complete',
      isError: false,
      content: [{ type: 'text', text: '{"name":"Ada","path":"/v1/customers/42"}' }],
      structuredContent: { status: 200, body: { name: 'Ada', path: '/v1/customers/42' } },
    });
    const { 'service/action': action, ...others } = meta(answer);
    expect(others).toMatchObject({
      'io.modelcontextprotocol/serverInfo': { name: 'agent-governance-service' },
      'service/deed': expect.stringMatching(/^deed_/) as string,
      'service/status': 'executed',
      'service/verdict': 'VERIFIED',
      'service/code': null,
      'service/replayed': false,
    });
    const { json } = await admin.get(`/v1/actions/${String(action)}`, bench.adminKey);
    expect(json).toMatchObject({ tool: 'crm.get_customer', mode: 'gateway', status: 'executed' });
  });

  it('of a server answers with its words unchanged, and sends nothing of ours along', async () => {
    const said = { content: [{ type: 'text', text: 'half of it' }], isError: true };
    server.set({ 'tools/call': () => said });
    await srv.modern('tools/list');
    const options = {
      headers: { 'Service-Session': 'run-1' },
      meta: { 'service/on_behalf_of': 'user-1', 'acme/x': 1 },
    };
    const answer = await srv.modern('tools/call', { name: 'search', arguments: { q: 'x' } }, options);
    expect(answer.result).toMatchObject(said);
    expect(meta(answer)).toMatchObject({ 'service/code': 'upstream_error', 'service/verdict': 'UNVERIFIABLE' });
    const [sent] = server.of('tools/call').slice(-1);
    expect(JSON.stringify([sent?.headers, sent?.body])).not.toMatch(/user-1|run-1|acme|svc_test/);
  });

  it('of a tool that there is not is an error of the protocol, and sealed', async () => {
    const { status, error } = await crm.modern('tools/call', { name: 'get_custommer' });
    expect([status, error]).toEqual([
      200,
      {
        code: -32602,
        message: expect.stringContaining('The connector crm has no tool get_custommer') as string,
        data: {
          code: 'tool_unknown',
          action: expect.stringMatching(/^act_/) as string,
          deed: expect.stringMatching(/^deed_/) as string,
        },
      },
    ]);
  });

  it('that the policy denies is a result that a model can read', async () => {
    const answer = await crm.modern('tools/call', { name: 'delete_customer', arguments: { id: '1' } });
    expect(answer).toMatchObject({ status: 200, result: { isError: true } });
    expect(answer.result).not.toHaveProperty('structuredContent');
    expect(textOf(answer)).toMatch(
      /^Customers are never deleted by an agent\. \(policy_denied, action act_[0-9a-z]+\)$/,
    );
    expect(meta(answer)).toMatchObject({ 'service/status': 'denied', 'service/code': 'policy_denied' });
  });

  it('that failed says so, with what the upstream answered', async () => {
    const answer = await get('gone');
    expect(answer.result).toMatchObject({ isError: true });
    expect(textOf(answer)).toMatch(/upstream_not_found, action act_/);
    expect(textOf(answer)).toContain('"status":404');
  });

  it('runs once under a key in _meta, whatever its JSON-RPC id', async () => {
    const options = { meta: { 'service/idempotency_key': 'tool-use-1' } };
    const [first, second] = [await get('1', options), await get('1', options)];
    expect(meta(second)).toMatchObject({ 'service/action': meta(first)['service/action'], 'service/replayed': true });
    expect(second.headers.get('service-idempotent-replayed')).toBe('true');
    expect(requests()).toHaveLength(1);
    expect(await get('2', options)).toMatchObject({ status: 422, error: { code: 'idempotency_conflict' } });
  });

  it.each([
    ['the key', { 'Idempotency-Key': 'a' }, { 'service/idempotency_key': 'b' }, 'Idempotency-Key'],
    ['the person', { 'Service-On-Behalf-Of': 'a' }, { 'service/on_behalf_of': 'b' }, 'Service-On-Behalf-Of'],
    ['the session', { 'Service-Session': 'a' }, { 'service/session': 'b' }, 'Service-Session'],
  ])('is refused where header and _meta name %s differently', async (_, headers, inMeta, param) => {
    expect(await get('1', { headers, meta: inMeta })).toMatchObject({
      status: 422,
      error: { code: 'validation_failed', param },
    });
    expect(requests()).toHaveLength(0);
  });

  it.each([
    ['no name', { arguments: {} }],
    ['a name that is no text', { name: 1 }],
    ['arguments that are no object', { name: 'get_customer', arguments: [] }],
    ['a state of nobody', { name: 'get_customer', arguments: { id: '1' }, requestState: 'act_x:1' }],
    ['a state that is no text', { name: 'get_customer', arguments: { id: '1' }, requestState: 1 }],
  ])('with %s: -32602, and nothing is recorded', async (_, params) => {
    expect(await crm.legacy('tools/call', params)).toMatchObject({ status: 200, error: { code: -32602 } });
    expect(requests()).toHaveLength(0);
  });
});

describe('a call that waits for a person', () => {
  it('is a task for a client that has them, and the action is the task', async () => {
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const began = await crm.modern('tools/call', ADD, { capabilities });
    expect(began.result).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 2_000 });
    const { taskId } = began.result;
    const task = () => crm.modern('tasks/get', { taskId }, { capabilities });
    expect((await task()).result).toMatchObject({ resultType: 'complete', taskId, status: 'working' });
    await decide(taskId, 'approve');
    await vi.waitFor(async () => expect((await task()).result).toMatchObject({ status: 'completed' }), PATIENCE);
    expect((await task()).result['result']).toMatchObject({ resultType: 'complete', isError: false });
    expect(requests()).toHaveLength(1);
  });

  it('is withdrawn by tasks/cancel', async () => {
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const began = await crm.modern('tools/call', { ...ADD, arguments: { id: '43', text: 'x' } }, { capabilities });
    const { taskId } = began.result;
    expect((await crm.modern('tasks/cancel', { taskId }, { capabilities })).result).toMatchObject({
      resultType: 'complete',
    });
    await vi.waitFor(async () => {
      const { result } = await crm.modern('tasks/get', { taskId }, { capabilities });
      expect(result).toMatchObject({ status: 'cancelled' });
    }, PATIENCE);
    const unknown = { status: 200, error: { code: -32602 } };
    expect(await crm.modern('tasks/get', { taskId: 'act_x' }, { capabilities })).toMatchObject(unknown);
  });

  it('tells a person with progress what it waits for, and ends with their decision', async () => {
    const params = { ...ADD, arguments: { id: '44', text: 'x' } };
    const waiting = crm.legacy('tools/call', params, { meta: { progressToken: 'p' } });
    const action = await vi.waitFor(async () => {
      const { json } = await admin.get('/v1/approvals?status=pending', bench.adminKey);
      const [pending] = json['data'] as { action: string }[];
      if (pending === undefined) throw new Error('nobody was asked yet');
      return pending.action;
    }, PATIENCE);
    await decide(action, 'deny');
    const { messages, result } = await waiting;
    expect(messages[0]).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p', progress: 1, message: 'A person is asked to approve this call.' },
    });
    expect(result).toMatchObject({ isError: true });
    expect(requests()).toHaveLength(0);
  });
});

describe('whom the door lets in', () => {
  it('answers 401 with where its metadata is', async () => {
    const response = await fetch(`${bench.url}/mcp/crm`, {
      method: 'POST',
      body: '{}',
      headers: { 'Content-Type': 'application/json' },
    });
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'Bearer realm="service", resource_metadata="https://ags.example.com/.well-known/oauth-protected-resource/mcp/crm", scope="actions:execute"',
    ]);
  });

  it.each(['', '/mcp', '/mcp/crm', '/mcp/nobody'])('says at %s how it is called', async (path) => {
    const response = await fetch(`${bench.url}/.well-known/oauth-protected-resource${path}`);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(await response.json()).toEqual({
      resource: `https://ags.example.com${path === '' ? '/mcp' : path}`,
      bearer_methods_supported: ['header'],
      scopes_supported: ['actions:execute'],
      resource_name: 'Agent Governance Service',
      resource_documentation: 'https://docs.example.com/ags/mcp',
    });
  });

  it.each([
    ['https://evil.example', 403],
    ['null', 403],
    ['https://ags.example.com', 200],
    ['https://inspector.example', 200],
  ])('a page of %s: %i', async (origin, status) => {
    expect(await crm.modern('tools/list', {}, { headers: { Origin: origin } })).toMatchObject({ status });
  });

  it('an admin key: 403', async () => {
    const wrong = new McpClient(`${bench.url}/mcp/crm`, bench.adminKey);
    expect(await wrong.modern('tools/list')).toMatchObject({ status: 403, error: { code: 'insufficient_scope' } });
  });

  it('greets clients of every revision', async () => {
    const hello = (protocolVersion: string) =>
      crm.legacy('initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'x', version: '1' } });
    expect((await hello('2025-06-18')).result).toMatchObject({
      protocolVersion: '2025-06-18',
      capabilities: { tools: { listChanged: true } },
      serverInfo: { name: 'agent-governance-service' },
    });
    expect((await hello('1999-01-01')).result).toMatchObject({ protocolVersion: '2025-11-25' });
    expect((await crm.legacy('ping')).messages).toEqual([expect.objectContaining({ result: {} })]);
    expect((await crm.modern('server/discover')).result).toMatchObject({
      supportedVersions: ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26'],
      capabilities: { tools: { listChanged: true }, extensions: { 'io.modelcontextprotocol/tasks': {} } },
    });
  });

  it('takes notifications, and answers nothing', async () => {
    const { status, messages } = await crm.send('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    expect([status, messages]).toEqual([202, []]);
  });

  it('gives no session, and ignores one that is sent', async () => {
    const answer = await crm.legacy('tools/list', {}, { headers: { 'Mcp-Session-Id': 'abc' } });
    expect([answer.status, answer.headers.get('mcp-session-id')]).toEqual([200, null]);
  });
});
