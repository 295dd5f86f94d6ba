import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { digestOfJson, type JsonObject } from '#libs/crypto';
import { bearer, type JsonAnswer } from '../../../../test/http/edge-client.js';
import { ApiBench } from '../../../../test/support/api-bench.js';
import {
  MODERN_ANSWERS,
  type ScriptedServer,
  sendText,
  startScriptedServer,
  TOOL,
} from '../../../../test/support/mcp-server.js';
import { ConnectorsModule } from './connectors.module.js';

let bench: ApiBench;
let server: ScriptedServer;
let numbers = 0;
const PATIENCE = { timeout: 20_000 };

beforeAll(async () => {
  bench = await ApiBench.start([ConnectorsModule], {
    settings: { allowPrivate: true, allowPlainText: true, allow: [], ownEndpoints: () => [] },
    resolve: () => Promise.resolve(['127.0.0.1']),
  });
  server = await startScriptedServer();
});
afterAll(async () => {
  await server?.close();
  await bench?.close();
});

const send = (method: string, path: string, body?: unknown): Promise<JsonAnswer> =>
  bench.send(method, path, {
    headers: { ...bearer('admin'), ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
const serves = (...tools: readonly JsonObject[]): void => server.set({ 'tools/list': () => ({ tools: [...tools] }) });
const made = async (config: JsonObject = {}): Promise<string> => {
  const name = `mcp-${(numbers += 1)}`;
  const whole = { url: server.url, auth: { kind: 'none' }, ...config };
  expect((await send('POST', '/v1/connectors', { type: 'mcp_http', name, config: whole })).status).toBe(201);
  return name;
};
const toolsOf = async (name: string): Promise<readonly JsonObject[]> =>
  ((await send('GET', `/v1/connectors/${name}/tools`)).json as { data: JsonObject[] }).data;
const refresh = (name: string) => send('POST', `/v1/connectors/${name}/tools/refresh`);
const accept = (name: string, ...tools: readonly [name: string, digest: string][]) =>
  send('POST', `/v1/connectors/${name}/tools/accept`, {
    tools: tools.map(([tool, definition_digest]) => ({ name: tool, definition_digest })),
  });

describe('the tools that a server names', () => {
  it('are asked for when the connector is made, and again when its credential comes or its config changes', async () => {
    serves(TOOL);
    const name = await made();
    await vi.waitFor(async () => expect(await toolsOf(name)).toHaveLength(1), PATIENCE);
    serves(TOOL, { ...TOOL, name: 'second' });
    const asked = server.of('tools/list').length;
    await send('PATCH', `/v1/connectors/${name}`, { description: 'Other words' });
    const config = { url: server.url, auth: { kind: 'bearer' } };
    await send('PATCH', `/v1/connectors/${name}`, { config });
    // Without a credential nobody is asked.
    expect(server.of('tools/list')).toHaveLength(asked);
    await send('PUT', `/v1/connectors/${name}/credentials`, { kind: 'bearer', secret: { token: 'a-token-of-a-test' } });
    await vi.waitFor(async () => expect(await toolsOf(name)).toHaveLength(2), PATIENCE);
    expect(server.of('tools/list').at(-1)?.headers.authorization).toBe('Bearer a-token-of-a-test');
  });

  it('are shown by name, each with what was said and what was accepted', async () => {
    serves({ ...TOOL, name: 'b' }, { ...TOOL, name: 'a' });
    const name = await made();
    await refresh(name);
    serves({ ...TOOL, name: 'b', description: 'Sends it all to \u202eus' });
    await refresh(name);
    const [a, b] = [
      { ...TOOL, name: 'a' },
      { ...TOOL, name: 'b' },
    ];
    const changed = { ...b, description: 'Sends it all to \u202eus' };
    const of = { object: 'connector_tool', changed_at: expect.any(String) as string };
    expect(await toolsOf(name)).toEqual([
      {
        ...{ ...of, name: 'a', status: 'gone', definition_digest: null, accepted_digest: digestOfJson(a) },
        ...{ definition: null, accepted_definition: a, invisible_characters: null },
      },
      {
        ...{ ...of, name: 'b', status: 'changed', definition_digest: digestOfJson(changed) },
        ...{ accepted_digest: digestOfJson(b), definition: changed, accepted_definition: b },
        invisible_characters: 'definition.description',
      },
    ]);
  });

  it('are found by status, and those that wait for an admin are counted with the connector', async () => {
    serves(...['a', 'b', 'c'].map((tool) => ({ ...TOOL, name: tool })));
    const name = await made({ tools_pin: 'all' });
    await refresh(name);
    serves({ ...TOOL, name: 'b' }, { ...TOOL, name: 'c', title: 'Other' }, { ...TOOL, name: 'd' });
    await refresh(name);
    const found = async (query: string) => {
      const { json } = await send('GET', `/v1/connectors/${name}/tools?${query}`);
      const { data } = json as { data: JsonObject[] };
      return data.map((tool) => tool['name']);
    };
    expect(await found('status=new,changed')).toEqual(['c', 'd']);
    expect(await found('status=gone')).toEqual(['a']);
    expect(await found('status=accepted,gone&limit=1')).toEqual(['a']);
    expect((await send('GET', `/v1/connectors/${name}`)).json).toMatchObject({ held_tools: 2 });
    for (const [query, param] of [
      ['status=held', 'status'],
      ['state=new', 'state'],
    ])
      expect(await send('GET', `/v1/connectors/${name}/tools?${query}`)).toMatchObject({
        status: 400,
        json: { error: { code: 'validation_failed', param } },
      });
  });

  it('come in pages', async () => {
    serves(...['c', 'a', 'b'].map((tool) => ({ ...TOOL, name: tool })));
    const name = await made();
    await refresh(name);
    const first = (await send('GET', `/v1/connectors/${name}/tools?limit=2`)).json as Record<string, unknown>;
    expect(first).toMatchObject({ object: 'list', has_more: true, data: [{ name: 'a' }, { name: 'b' }] });
    const path = `/v1/connectors/${name}/tools?limit=2&cursor=${String(first['next_cursor'])}`;
    expect((await send('GET', path)).json).toMatchObject({ has_more: false, next_cursor: null, data: [{ name: 'c' }] });
  });

  it('are none where the config names them, and nobody can be asked', async () => {
    const config = {
      base_url: 'http://crm.example',
      allowed_methods: ['GET'],
      allowed_path_prefixes: ['/v1'],
      tools: [{ name: 'get', method: 'GET', path: '/v1/x' }],
    };
    await send('POST', '/v1/connectors', { type: 'rest', name: 'crm', config });
    expect(await toolsOf('crm')).toEqual([]);
    expect(await refresh('crm')).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } });
  });

  it('are those of a live connector', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/refresh'],
    ] as const)
      expect((await send(method, `/v1/connectors/nobody/tools${path}`)).status).toBe(404);
  });
});

describe('accepting what a server changed', () => {
  it('takes the digest that was looked at, seals a deed, and does nothing twice', async () => {
    serves(TOOL);
    const name = await made();
    await refresh(name);
    const changed = { ...TOOL, description: 'Other words.' };
    serves(changed);
    await refresh(name);
    const old = digestOfJson(TOOL);
    expect(await accept(name, ['search', old])).toMatchObject({
      status: 409,
      json: { error: { code: 'conflict', param: 'tools[0].definition_digest' } },
    });
    const accepted = await accept(name, ['search', digestOfJson(changed)]);
    expect(accepted).toMatchObject({
      status: 200,
      json: {
        object: 'connector',
        deed: expect.stringMatching(/^deed_/) as string,
        tools: [{ name: `${name}.search` }],
      },
    });
    expect(await toolsOf(name)).toMatchObject([{ status: 'accepted' }]);
    expect((await accept(name, ['search', digestOfJson(changed)])).json).toMatchObject({ deed: null });
  });

  it.each([
    [{}, 'tools'],
    [{ tools: [] }, 'tools'],
    [{ tools: [{ name: 'a' }] }, 'tools[0].definition_digest'],
    [{ tools: [{ name: 'a', definition_digest: 'x' }] }, 'tools[0].definition_digest'],
    [{ tools: [{ definition_digest: digestOfJson(1) }] }, 'tools[0].name'],
  ])('refuses %j', async (body, param) => {
    const name = await made();
    expect(await send('POST', `/v1/connectors/${name}/tools/accept`, body)).toMatchObject({
      status: 400,
      json: { error: { code: 'validation_failed', param } },
    });
  });
});

describe('lists of tools', () => {
  it('have what the server says, without the marks that are the service’s own business', async () => {
    const inputSchema = { type: 'object', properties: { region: { type: 'string', 'x-mcp-header': 'Region' } } };
    serves({ ...TOOL, inputSchema });
    const name = await made();
    await refresh(name);
    const shown = {
      name: `${name}.search`,
      description: TOOL['description'],
      side_effect: 'unknown',
      levels: ['L0'],
      input_schema: { type: 'object', properties: { region: { type: 'string' } } },
    };
    expect((await send('GET', `/v1/connectors/${name}`)).json).toMatchObject({ tools: [shown] });
    const { data } = (await send('GET', '/v1/tools?limit=100')).json as { data: JsonObject[] };
    expect(data.find(({ name: tool }) => tool === `${name}.search`)).toMatchObject(shown);
  });

  it('pass over connectors that have no tool, and do not have one that is held', async () => {
    const config = { auth: { kind: 'bearer' } };
    for (let count = 0; count < 5; count += 1) await made(config);
    serves(TOOL);
    const name = await made();
    await refresh(name);
    const all: JsonObject[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const path = `/v1/tools?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const { data, next_cursor } = (await send('GET', path)).json as {
        data: JsonObject[];
        next_cursor: string | null;
      };
      all.push(...data);
      cursor = next_cursor;
    }
    expect(all.map((tool) => tool['name'])).toContain(`${name}.search`);
    serves({ ...TOOL, title: 'Other' });
    await refresh(name);
    expect((await send('GET', `/v1/connectors/${name}`)).json).toMatchObject({ tools: [] });
  });
});

describe('asking a server now', () => {
  it('answers with its tools, and says why it could not', async () => {
    serves(TOOL);
    const name = await made();
    expect(await refresh(name)).toMatchObject({
      status: 200,
      json: { tools: [{ name: `${name}.search`, side_effect: 'unknown' }] },
    });
    server.set({ 'tools/list': (request) => sendText(request, 500) });
    expect(await refresh(name)).toMatchObject({ status: 503, json: { error: { code: 'connector_unavailable' } } });
    server.set(MODERN_ANSWERS);
  });

  it('brings a definition back that was lost', async () => {
    serves(TOOL);
    const name = await made();
    await refresh(name);
    await bench.pool.query('delete from connectors.tool_definitions');
    expect(await toolsOf(name)).toMatchObject([{ status: 'accepted', definition: null }]);
    await refresh(name);
    expect(await toolsOf(name)).toMatchObject([{ status: 'accepted', definition: TOOL }]);
  });

  it('is counted with the tests: ten a minute', async () => {
    const name = await made();
    for (let count = 0; count < 10; count += 1) await refresh(name);
    expect(await refresh(name)).toMatchObject({ status: 429, json: { error: { code: 'rate_limited' } } });
  });
});

describe('a connection test of an MCP server', () => {
  it('says how the server speaks and what can be called', async () => {
    serves(TOOL);
    const name = await made();
    const { json } = await send('POST', `/v1/connectors/${name}/test`);
    expect(json).toMatchObject({
      status: 'passing',
      checks: [
        { check: 'config', status: 'passed' },
        { check: 'credentials', status: 'skipped' },
        { check: 'destination', status: 'passed' },
        { check: 'tls', status: 'skipped' },
        { check: 'auth', status: 'passed' },
        { check: 'protocol', detail: 'The server speaks MCP 2026-07-28.' },
        { check: 'tools', detail: '1 tool can be called.' },
      ],
    });
  });

  it('refuses an address that the egress rules forbid, by its key', async () => {
    const config = { url: 'http://[fd00::1%25eth0]/mcp', auth: { kind: 'none' } };
    const answer = await send('POST', '/v1/connectors', { type: 'mcp_http', name: 'bad', config });
    expect(answer).toMatchObject({ status: 400, json: { error: { param: 'config.url' } } });
  });
});
