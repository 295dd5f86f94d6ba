import { describe, expect, it, vi } from 'vitest';

import type { JsonObject } from '#libs/crypto';
import type { ErrorCode } from '#libs/domain/kernel';

import { ACTION, cleanUpAfterEach, givenMcp, TOKEN, unaskedMcp } from './testing/given-mcp.js';
import { MODERN_ANSWERS, sendError, sendJson, sendText, TOOL } from '../../../../../test/support/mcp-server.js';

cleanUpAfterEach();

const FOUND = { content: [{ type: 'text', text: 'found' }] };
const brokenOff: (typeof MODERN_ANSWERS)[string] = ({ response }) => {
  response.destroy();
  return null;
};
const withTool = (changes: JsonObject) => ({ 'tools/list': () => ({ tools: [{ ...TOOL, ...changes }] }) });

describe('a call to a server of 2026-07-28', () => {
  it('is the one message that the revision has, with the credential and nothing of the caller', async () => {
    const { send, server } = await givenMcp();
    expect(await send('search', { q: 'ä' })).toEqual({
      status: 'succeeded',
      errorCode: null,
      errorMessage: null,
      result: FOUND,
      hasSent: true,
      retryAfterMs: null,
    });
    const [call] = server.of('tools/call');
    expect([call?.httpMethod, call?.target]).toEqual(['POST', '/mcp?tenant=1']);
    expect(call?.body).toEqual({
      jsonrpc: '2.0',
      id: expect.any(Number) as number,
      method: 'tools/call',
      params: {
        name: 'search',
        arguments: { q: 'ä' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'agent-governance-service', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': {},
          'service/action_id': ACTION,
        },
      },
    });
    expect(Object.keys(call?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'mcp-method',
      'mcp-name',
      'mcp-protocol-version',
      'user-agent',
    ]);
    expect(call?.headers).toMatchObject({
      accept: 'application/json, text/event-stream',
      authorization: `Bearer ${TOKEN}`,
      'mcp-method': 'tools/call',
      'mcp-name': 'search',
      'mcp-protocol-version': '2026-07-28',
    });
  });

  it('has the arguments in headers that the tool’s schema wants there', async () => {
    const inputSchema = { properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    const { send, server } = await givenMcp({ answers: { ...MODERN_ANSWERS, ...withTool({ inputSchema }) } });
    await send('search', { region: 'Zürich' });
    expect(server.of('tools/call')[0]?.headers['mcp-param-region']).toBe('=?base64?WsO8cmljaA==?=');
  });

  it.each([
    [{ auth: { kind: 'header', header: 'X-Key' } }, 'x-key', TOKEN],
    [{ auth: { kind: 'none' } }, 'authorization', undefined],
  ])('carries the credential as %j says', async (config, header, value) => {
    const { send, server } = await givenMcp({ config });
    expect(await send()).toMatchObject({ status: 'succeeded' });
    expect(server.of('tools/call')[0]?.headers[header]).toBe(value);
    for (const { headers } of server.requests) expect(headers[header]).toBe(value);
  });

  it('asks how the server speaks once, and for its tools again when the list is too old', async () => {
    const { send, server } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    await send();
    await send();
    expect([server.of('server/discover').length, server.of('tools/list').length]).toEqual([1, 3]);
    const young = await givenMcp();
    await young.send();
    expect(young.server.of('tools/list')).toHaveLength(1);
  });

  it('the server’s own time to live counts where it is shorter', async () => {
    const list = () => ({ tools: [TOOL], ttlMs: 0 });
    const { send, server } = await givenMcp({ answers: { ...MODERN_ANSWERS, 'tools/list': list } });
    await send();
    expect(server.of('tools/list')).toHaveLength(2);
  });

  it('calls of one moment share one look at the list', async () => {
    const { send, server } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    const outcomes = await Promise.all(Array.from({ length: 8 }, () => send()));
    expect(outcomes.map(({ status }) => status)).toEqual(Array.from({ length: 8 }, () => 'succeeded'));
    expect(server.of('tools/list').length).toBeLessThan(6);
  });

  it('destroys the opened credential', async () => {
    const { send, vault } = await givenMcp();
    await send();
    expect(vault.opened.length).toBeGreaterThan(0);
    for (const bytes of vault.opened) expect([...bytes].every((byte) => byte === 0)).toBe(true);
  });
});

describe('what an answer comes to', () => {
  const answered = async (answer: (typeof MODERN_ANSWERS)[string]) => {
    const { send, server } = await givenMcp();
    server.set({ 'tools/call': answer });
    const outcome = await send();
    expect([outcome.hasSent, outcome.retryAfterMs, server.of('tools/call').length]).toEqual([true, null, 1]);
    return outcome;
  };

  it('isError: unknown, with the tool’s words', async () => {
    expect(await answered(() => ({ ...FOUND, isError: true, structuredContent: { a: 1 } }))).toMatchObject({
      status: 'unknown',
      errorCode: 'upstream_error',
      result: { ...FOUND, isError: true, structuredContent: { a: 1 } },
    });
  });

  it.each([-32600, -32601, -32602, -32700, -32020, -32021, -32022])('error %i: failed, nothing began', async (code) => {
    expect(await answered((request) => sendError(request, code, 'no such', { a: 1 }))).toMatchObject({
      status: 'failed',
      errorCode: 'upstream_error',
      result: { error: { code, message: 'no such', data: { a: 1 } } },
    });
  });

  it.each([-32603, -32000, -32002, 1, 42])('error %i: unknown', async (code) => {
    expect(await answered((request) => sendError(request, code))).toMatchObject({
      status: 'unknown',
      errorCode: 'upstream_error',
    });
  });

  it.each<[what: string, answer: (typeof MODERN_ANSWERS)[string]]>([
    ['input_required', () => ({ resultType: 'input_required', inputRequests: {} })],
    ['a task', () => ({ resultType: 'task', taskId: '1' })],
    ['no content at all', () => ({ content: 'x' })],
    ['content that is no object', () => ({ content: ['x'] })],
    [
      'duplicate keys',
      (request) =>
        sendText(
          request,
          200,
          `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":{"content":[],"content":[]}}`,
          {
            'Content-Type': 'application/json',
          },
        ),
    ],
    ['another id', (request) => sendJson(request, 200, { jsonrpc: '2.0', id: 'other', result: FOUND })],
    ['HTML', (request) => sendText(request, 200, '<p>found</p>', { 'Content-Type': 'text/html' })],
    ['no JSON', (request) => sendText(request, 200, 'found', { 'Content-Type': 'application/json' })],
    ['nothing', (request) => sendText(request, 202)],
    ['a redirect', (request) => sendText(request, 307, '', { Location: 'http://elsewhere.example/mcp' })],
    ['status 500', (request) => sendText(request, 500)],
    ['status 503', (request) => sendText(request, 503)],
    ['a connection that ends', brokenOff],
  ])('%s: unknown, for it may have run', async (_, answer) => {
    expect(await answered(answer)).toMatchObject({ status: 'unknown', errorCode: 'upstream_error' });
  });

  it.each<[status: number, code: ErrorCode]>([
    [400, 'upstream_error'],
    [401, 'upstream_auth_failed'],
    [403, 'upstream_auth_failed'],
    [404, 'upstream_not_found'],
    [422, 'upstream_error'],
    [429, 'upstream_rate_limited'],
  ])('status %i: failed as %s, with the answer beside it', async (status, code) => {
    expect(await answered((request) => sendJson(request, status, { why: 'so' }))).toMatchObject({
      status: 'failed',
      errorCode: code,
      result: { status, body: { why: 'so' } },
    });
  });

  it('an answer above 4 MiB: too large, and it may have run', async () => {
    const text = 'a'.repeat(4_300_000);
    expect(await answered(() => ({ content: [{ type: 'text', text }] }))).toMatchObject({
      status: 'unknown',
      errorCode: 'response_too_large',
      // The type has no setting that raises it.
      errorMessage: expect.not.stringContaining('max_response_bytes') as string,
    });
  });

  it('silence: unknown at the time of one request', async () => {
    const { send, server } = await givenMcp({ config: { timeout_ms: 300 } });
    server.set({ 'tools/call': () => null });
    expect(await send()).toMatchObject({ status: 'unknown', errorCode: 'timeout', hasSent: true });
  });

  it('what repeats the credential is recorded without it', async () => {
    const outcome = await answered(({ headers }) => ({
      content: [{ type: 'text', text: `you sent ${headers.authorization}` }],
      structuredContent: { [String(headers.authorization)]: 1 },
    }));
    expect(JSON.stringify(outcome)).not.toContain(TOKEN);
    expect(outcome.result).toMatchObject({ content: [{ text: 'you sent Bearer [redacted]' }] });
  });

  it('with integers beyond 2^53-1 the structured form goes, and the content stays', async () => {
    const large = (request: { id: unknown }) =>
      `{"jsonrpc":"2.0","id":${JSON.stringify(request.id)},"result":{"content":[{"type":"text","text":"9007199254740993"}],"structuredContent":{"a":9007199254740993}}}`;
    expect(
      await answered((request) => sendText(request, 200, large(request), { 'Content-Type': 'application/json' })),
    ).toMatchObject({ status: 'succeeded', result: { content: [{ type: 'text', text: '9007199254740993' }] } });
  });
});

describe('what keeps a call from being sent', () => {
  it('a Stop before the first byte', async () => {
    const { send, server } = await givenMcp();
    const mayStillSend = vi.fn((hasSent: boolean) => Promise.resolve(hasSent ? null : ('agent_stopped' as const)));
    expect(await send('search', {}, { mayStillSend })).toMatchObject({
      status: 'failed',
      errorCode: 'agent_stopped',
      hasSent: false,
    });
    expect(server.of('tools/call')).toHaveLength(0);
  });

  it('a Stop while the list is asked for', async () => {
    const { send, server } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    const asked = server.requests.length;
    const outcome = await send('search', {}, { mayStillSend: () => Promise.resolve('org_stopped') });
    expect(outcome).toMatchObject({ status: 'failed', errorCode: 'org_stopped', hasSent: false });
    expect(server.requests).toHaveLength(asked);
  });

  it('a credential of another kind, or none', async () => {
    const { send, connector, server } = await givenMcp();
    const asked = server.requests.length;
    const live = await connector();
    const without = { connector: { ...live, credential: null } };
    expect(await send('search', {}, without)).toMatchObject({ errorCode: 'credentials_missing', hasSent: false });
    expect(server.requests).toHaveLength(asked);
  });

  it.each<[status: number, code: ErrorCode]>([
    [401, 'upstream_auth_failed'],
    [429, 'upstream_rate_limited'],
    [500, 'connector_unavailable'],
    [404, 'connector_unavailable'],
  ])('a list that is answered with %i: failed as %s', async (status, code) => {
    const { send, server } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    server.set({ 'tools/list': (request) => sendText(request, status) });
    expect(await send()).toMatchObject({ status: 'failed', errorCode: code, hasSent: false, result: null });
    expect(server.of('tools/call')).toHaveLength(0);
  });

  it('a list that does not come in time', async () => {
    const { send, server } = await givenMcp({ config: { tools_ttl_ms: 0, timeout_ms: 200 } });
    server.set({ 'tools/list': () => null });
    expect(await send()).toMatchObject({
      status: 'failed',
      errorCode: 'connector_unavailable',
      errorMessage: expect.stringContaining('took too long to say which tools it has') as string,
      hasSent: false,
    });
  });

  it('a destination that the egress rules forbid', async () => {
    const { send } = await unaskedMcp({ settings: { allowPrivate: false } });
    expect(await send()).toMatchObject({ status: 'failed', errorCode: 'destination_blocked', hasSent: false });
  });
});
