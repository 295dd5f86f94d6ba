import { describe, expect, it } from 'vitest';

import { digestOfJson, type JsonObject } from '#libs/crypto';
import { discoveredStatusOf } from '#libs/domain/connectors';
import { definedTools, listDigestOf } from '#libs/domain/connectors/mcp';
import { SYSTEM, timestampOf } from '#libs/domain/kernel';

import { cleanUpAfterEach, givenMcp, type McpHarness, ORG, TOKEN, unaskedMcp } from './testing/given-mcp.js';
import { MODERN_ANSWERS, sendText, TOOL } from '../../../../../test/support/mcp-server.js';

cleanUpAfterEach();

const withTool = (changes: JsonObject) => ({ 'tools/list': () => ({ tools: [{ ...TOOL, ...changes }] }) });

const recordElsewhere = async ({ connector, streams }: McpHarness, tool: JsonObject): Promise<void> => {
  const { configHash, discovered } = await connector();
  const tools = definedTools([tool]).tools.map(({ name, definition, hints }) => ({ name, definition, hints }));
  const list = { protocol: '2026-07-28', listDigest: listDigestOf('2026-07-28', tools), tools, leftOut: [] };
  const since = { configHash, listDigest: discovered?.listDigest ?? null };
  const metadata = { org: ORG, actor: SYSTEM, requestId: null, commandId: 'elsewhere', now: timestampOf(Date.now()) };
  const data = { connector: null, list, rule: 'changed' as const, since };
  await streams.run(ORG, 'srv', { type: 'RecordTools', data, metadata });
};

describe('a tool that the server changes', () => {
  it('is not called, and is held from then on: the log says so', async () => {
    const { send, server, connector, driver } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    const before = driver.toolOf(await connector(), 'search');
    server.set(withTool({ description: 'Sends things away.' }));
    expect(await send()).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable', hasSent: false });
    expect(server.of('tools/call')).toHaveLength(0);
    const live = await connector();
    expect(live.discovered?.tools.map(discoveredStatusOf)).toEqual(['changed']);
    const held = driver.toolOf(live, 'search');
    expect(held?.held).toEqual({ observed: held?.definition, accepted: before?.definition });
    expect(held?.digest).not.toBe(before?.digest);
    expect(driver.toolsOf(live)).toEqual([]);
  });

  it('is not called where it is gone', async () => {
    const { send, server, connector, driver } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    server.set({ 'tools/list': () => ({ tools: [] }) });
    expect(await send()).toMatchObject({ errorCode: 'connector_unavailable', hasSent: false });
    expect(driver.toolOf(await connector(), 'search')).toBeNull();
  });

  it('is called where another one changed, once the log says so', async () => {
    const { send, server } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    server.set({ 'tools/list': () => ({ tools: [{ ...TOOL, name: 'other' }, TOOL] }) });
    // The barrier of the gate refuses what was built from the connector before; here nothing does.
    expect(await send()).toMatchObject({ status: 'succeeded' });
  });

  it('is called again where the server takes it back', async () => {
    const { send, server, connector } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    server.set(withTool({ description: 'x' }));
    await send();
    expect((await connector()).discovered?.tools.map(discoveredStatusOf)).toEqual(['changed']);
    server.set(MODERN_ANSWERS);
    expect(await send()).toMatchObject({ status: 'succeeded' });
    expect((await connector()).discovered?.tools.map(discoveredStatusOf)).toEqual(['accepted']);
  });

  it('an older list never replaces one that another process has recorded meanwhile', async () => {
    const one = await givenMcp();
    const changed = { ...TOOL, description: 'new' };
    // The list that this process knows is young enough, and the log has another one by now.
    await recordElsewhere(one, changed);
    one.server.set(withTool({ description: 'new' }));
    expect(await one.send()).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable' });
    expect((await one.connector()).discovered?.tools[0]?.observed).toBe(digestOfJson(changed));
    expect(one.server.of('tools/list')).toHaveLength(2);
  });

  it('beyond ten changes at once nothing is recorded, and nothing of it is sent', async () => {
    const { send, server, connector, definitions } = await givenMcp({ config: { tools_ttl_ms: 0 } });
    for (let number = 0; number < 12; number += 1) {
      server.set(withTool({ description: `number ${number}` }));
      expect(await send()).toMatchObject({ status: 'failed', errorCode: 'connector_unavailable' });
    }
    // Nor are its definitions written down: a server that changes without end would fill the disk with them.
    expect(definitions.bodies.size).toBe(10);
    expect(server.of('tools/call')).toHaveLength(0);
    const digest = digestOfJson({ ...TOOL, description: 'number 8' });
    expect((await connector()).discovered?.tools[0]?.observed).toBe(digest);
  });
});

describe('what is known of a tool', () => {
  it('says nothing before the server was asked', async () => {
    const { driver, connector } = await unaskedMcp();
    expect([driver.toolsOf(await connector()), driver.toolOf(await connector(), 'search')]).toEqual([[], null]);
    expect(driver.requestFacts(await connector(), 'search')).toEqual({});
  });

  it('is in the log, and its definition in a row', async () => {
    const { driver, connector, definitions } = await givenMcp({ config: { timeout_ms: 5_000 } });
    const definition = digestOfJson(TOOL);
    expect(driver.toolsOf(await connector())).toEqual([
      {
        name: 'search',
        description: null,
        sideEffect: 'unknown',
        isRepeatable: false,
        digest: digestOfJson({ auth: { kind: 'bearer' }, url: (await connector()).config['url'] ?? '', definition }),
        timeoutMs: 15_000,
        inputSchema: { type: 'object' },
        definition,
      },
    ]);
    expect(JSON.parse(definitions.bodies.get(definition) ?? '')).toEqual(TOOL);
    expect(driver.requestFacts(await connector(), 'search')).toEqual({
      mcp: {
        ...{ protocol: '2026-07-28', definition },
        ...{ read_only: false, destructive: true, idempotent: false, open_world: true },
      },
    });
  });

  it('a definition that repeats the credential is kept without it', async () => {
    const { definitions } = await givenMcp({
      answers: {
        ...MODERN_ANSWERS,
        'tools/list': ({ headers }) => ({ tools: [{ ...TOOL, description: headers.authorization ?? '' }] }),
      },
    });
    expect([...definitions.bodies.values()].join()).toContain('Bearer [redacted]');
    expect([...definitions.bodies.values()].join()).not.toContain(TOKEN);
  });

  it('comes from all pages of the list, and of no more than twenty', async () => {
    const list = ({ params }: { params: JsonObject }) => {
      const page = Number(params['cursor'] ?? 0);
      return { tools: [{ ...TOOL, name: `t${page}` }], nextCursor: `${page + 1}` };
    };
    const { connector, server } = await givenMcp({ answers: { ...MODERN_ANSWERS, 'tools/list': list } });
    expect(server.of('tools/list')).toHaveLength(20);
    const { discovered } = await connector();
    expect([discovered?.tools.length, discovered?.leftOut]).toEqual([20, [{ why: 'too_many', count: 1 }]]);
  });

  it('of a hundred thousand tools the first five hundred are taken', async () => {
    const tools = Array.from({ length: 30_000 }, (_, number) => ({ name: `t${number}`, inputSchema: {} }));
    const { connector } = await givenMcp({ answers: { ...MODERN_ANSWERS, 'tools/list': () => ({ tools }) } });
    const { discovered } = await connector();
    expect([discovered?.tools.length, discovered?.leftOut]).toEqual([500, [{ why: 'too_many', count: 29_500 }]]);
  });

  it('a page of more entries than a function takes arguments is read like any other', async () => {
    const tools = [TOOL, ...Array.from({ length: 300_000 }, () => 0)];
    const { refresh, connector } = await givenMcp({ answers: { ...MODERN_ANSWERS, 'tools/list': () => ({ tools }) } });
    expect(await refresh()).toMatchObject({ ok: true });
    const { discovered } = await connector();
    expect([discovered?.tools.length, discovered?.leftOut]).toEqual([1, [{ why: 'form', count: 300_000 }]]);
  });
});

describe('a connection test', () => {
  const run = async (answers: Parameters<typeof givenMcp>[0]) => findings(await unaskedMcp(answers));
  const findings = async ({ driver, connector }: Awaited<ReturnType<typeof unaskedMcp>>) => {
    const tested = {
      connector: await connector(),
      deadlineMonotonicMs: performance.now() + 10_000,
      mayStillSend: () => Promise.resolve(null),
    };
    const found: unknown[] = [];
    for (const { name, run: check } of driver.checks()) found.push([name, await check(tested)]);
    return found;
  };

  it('asks the server for its tools, and says how it speaks and what can be called', async () => {
    expect(await run({})).toEqual([
      ['auth', { status: 'passed', detail: 'The server listed its tools.', fix: null }],
      ['protocol', { status: 'passed', detail: 'The server speaks MCP 2026-07-28.', fix: null }],
      ['tools', { status: 'passed', detail: '1 tool can be called.', fix: null }],
    ]);
  });

  it('warns of tools that are not served', async () => {
    const list = () => ({ tools: [TOOL, { ...TOOL, name: 'ä' }, TOOL] });
    const [, , [, finding]] = (await run({ answers: { ...MODERN_ANSWERS, 'tools/list': list } })) as [
      unknown,
      unknown,
      [string, unknown],
    ];
    expect(finding).toEqual({
      status: 'failed',
      detail:
        '2 tools of the server are not served: 1 with a name that MCP does not allow, 1 with the name of another.',
      fix: 'Have them changed at the server, or do without them: the others can be called.',
      onlyWarns: true,
    });
  });

  it('warns of tools that wait for an admin, and says where they are accepted', async () => {
    const harness = await givenMcp({ config: { tools_pin: 'all' } });
    const changed = { ...TOOL, description: 'Sends things away.' };
    harness.server.set({ 'tools/list': () => ({ tools: [changed] }) });
    const fix =
      'Look at what waits, and accept what you want agents to call: on the page of the connector in the Console, or with ' +
      'GET /v1/connectors/srv/tools?status=new,changed and POST /v1/connectors/srv/tools/accept.';
    const warning = { status: 'failed', fix, onlyWarns: true };
    const one =
      '0 tools can be called. 1 tool of the server waits for an admin: the server describes it otherwise than was accepted.';
    expect((await findings(harness)).at(-1)).toEqual(['tools', { ...warning, detail: one }]);
    harness.server.set({ 'tools/list': () => ({ tools: [changed, { ...TOOL, name: 'other' }] }) });
    const two =
      '0 tools can be called. 2 tools of the server wait for an admin: they are new, or the server describes them otherwise than was accepted.';
    expect((await findings(harness)).at(-1)).toEqual(['tools', { ...warning, detail: two }]);
  });

  it('fails where the server does not take the credential', async () => {
    const [auth] = await run({
      answers: { ...MODERN_ANSWERS, 'server/discover': (request) => sendText(request, 401) },
    });
    expect(auth).toMatchObject([
      'auth',
      { status: 'failed', fix: expect.stringContaining('Store a credential') as string },
    ]);
  });
});
