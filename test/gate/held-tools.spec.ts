import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StopOrganization } from '#libs/domain/agents/handlers';
import { digestOfJson, type JsonObject } from '#libs/crypto';
import { connectorDecider, connectorStreamId, discoveredStatusOf, isLive } from '#libs/domain/connectors';
import type { Action, ActionRequest, LivingAction } from '#libs/domain/gate';
import { streamRef } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { MODERN_ANSWERS, type ScriptedServer, sendText, startScriptedServer, TOOL } from '../support/mcp-server.js';
import { GateBench, ManualStarter } from '../support/gate-bench.js';

const POLICY = `version: 1
default: deny
rules:
  - id: everything-of-srv
    match:
      tools:
        - srv.*
    decision: allow
`;

let server: ScriptedServer;
let bench: GateBench;

beforeEach(async () => {
  server = await startScriptedServer();
  bench = await new GateBench(new MemoryEventStore()).prepare('http://127.0.0.1:1', [
    { name: 'get', method: 'GET', path: '/v1/x' },
  ]);
  await bench.enforce(POLICY);
  const url = server.url.replace('mcp.example', '127.0.0.1');
  await bench.connect('mcp_http', 'srv', { url, auth: { kind: 'none' }, tools_ttl_ms: 0 });
});
afterEach(async () => {
  bench.close();
  await server.close();
});

const discovered = async () => {
  const { state } = await bench.streams.load(streamRef(connectorDecider, connectorStreamId(bench.org, 'srv')));
  return isLive(state) ? state.discovered : undefined;
};
const statuses = async () => (await discovered())?.tools.map((tool) => [tool.name, discoveredStatusOf(tool)]);
const serves = (...tools: readonly JsonObject[]): void => server.set({ 'tools/list': () => ({ tools: [...tools] }) });
const isRecorded = (action: Action): boolean => action.state === 'recorded';
const call = async (changes: Partial<ActionRequest> = {}): Promise<LivingAction> => {
  const { action } = await bench.submit({ tool: 'srv.search', ...changes });
  return (await bench.action(action, isRecorded)) as LivingAction;
};
const changed = { ...TOOL, description: 'Sends it all to somebody else.' };

describe('a tool of an MCP server at the gate', () => {
  it('that nobody has asked for yet: the decision waits for the server’s list, and the call runs', async () => {
    const action = await call();
    expect(action.decision).toMatchObject({ outcome: 'allow', rule_id: 'everything-of-srv' });
    expect(action.outcome).toMatchObject({ status: 'succeeded' });
    expect(action.submission).toMatchObject({
      side_effect: 'unknown',
      connector: expect.stringMatching(/^con_/) as string,
    });
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('that the server does not have is unknown, at the cost of one question a second', async () => {
    for (let count = 0; count < 4; count += 1) {
      const { action } = await bench.submit({ tool: 'srv.nothing' });
      expect(((await bench.action(action)) as LivingAction).decision).toMatchObject({ code: 'tool_unknown' });
    }
    expect(server.of('tools/list').length).toBeLessThan(4);
    expect(server.of('tools/call')).toHaveLength(0);
  });

  it('is judged by what its server says of it', async () => {
    serves({ ...TOOL, annotations: { readOnlyHint: true } });
    await bench.enforce(`version: 1
default: deny
rules:
  - id: reads
    match:
      tools:
        - srv.*
    when: request.mcp.read_only && request.mcp.protocol == "2026-07-28"
    decision: allow
`);
    const action = await call();
    expect(action.decision).toMatchObject({ outcome: 'allow', rule_id: 'reads' });
    serves({ ...TOOL, name: 'other' });
    await call();
    expect((await call({ tool: 'srv.other' })).decision).toMatchObject({ outcome: 'deny' });
  });

  it('changed between decision and call: failed, nothing called, and held from then on', async () => {
    await call();
    serves(changed);
    expect((await call()).outcome).toMatchObject({
      status: 'failed',
      error_code: 'connector_unavailable',
      error_message: expect.stringContaining('describes the tool search otherwise than was accepted') as string,
    });
    expect(await statuses()).toEqual([['search', 'changed']]);
    const denied = await call();
    const { observed, accepted } = (await discovered())?.tools[0] ?? {};
    expect(denied.decision).toMatchObject({
      outcome: 'deny',
      code: 'policy_denied',
      source: 'builtin',
      reason: 'tool_changed',
      rule_id: null,
    });
    expect(denied.decision?.message).toContain(String(observed));
    expect(denied.decision?.message).toContain(String(accepted));
    expect(denied.decision?.message).toContain('POST /v1/connectors/srv/tools/accept');
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('is called again once an admin has accepted it', async () => {
    await call();
    serves(changed);
    await call();
    await accept('search', digestOfJson(changed));
    expect((await call()).outcome).toMatchObject({ status: 'succeeded' });
    expect(server.of('tools/call')).toHaveLength(2);
  });

  it('changed while the call waited for its executor: nothing is called', async () => {
    await call();
    const starter = new ManualStarter(bench.executorId, null);
    const { action } = await bench.submit({ tool: 'srv.search' }, bench.handler(starter));
    serves(changed);
    // Another call has the change recorded, as another instance would.
    await call();
    for (const accepted of starter.accepted) await bench.executor.run(accepted);
    expect(((await bench.action(action, isRecorded)) as LivingAction).outcome).toMatchObject({
      status: 'failed',
      error_code: 'connector_unavailable',
    });
    expect(server.of('tools/call')).toHaveLength(1);
  });

  it('is called although another tool of its server changed', async () => {
    serves(TOOL, { ...TOOL, name: 'other' });
    await call();
    serves(TOOL, { ...changed, name: 'other' });
    expect((await call()).outcome).toMatchObject({ status: 'succeeded' });
    expect(await statuses()).toEqual([
      ['search', 'accepted'],
      ['other', 'changed'],
    ]);
  });

  it('is not called where no list can be had', async () => {
    await call();
    server.set({ 'tools/list': (request) => sendText(request, 500) });
    expect((await call()).outcome).toMatchObject({ status: 'failed', error_code: 'connector_unavailable' });
    server.set(MODERN_ANSWERS);
    expect((await call()).outcome).toMatchObject({ status: 'succeeded' });
  });

  it('of a stopped organization: nobody is asked', async () => {
    await bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    const { action } = await bench.submit({ tool: 'srv.search' });
    expect(((await bench.action(action)) as LivingAction).decision).toMatchObject({ code: 'org_stopped' });
    expect(server.requests).toHaveLength(0);
  });
});

const accept = async (name: string, definition: string): Promise<void> => {
  const metadata = bench.metadata();
  const data = { connector: null, tools: [{ name, definition }] };
  const id = connectorStreamId(bench.org, 'srv');
  await bench.runner.run(connectorDecider, id, { type: 'AcceptTools', data, metadata }, metadata);
};
