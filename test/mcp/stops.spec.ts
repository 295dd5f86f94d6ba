import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type DoorAgent, DoorScene, metaOf, namesIn, PATIENCE, TASKS, textOf } from '../support/door-scene.js';
import type { DoorStream } from '../support/mcp-client.js';
import { MODERN_ANSWERS, type ScriptedServer, startScriptedServer } from '../support/mcp-server.js';

const NAMES = ['ask', 'go'];
const ASK = { name: 'ask', arguments: {} };
const DEED = expect.stringMatching(/^deed_/) as string;
const GO = { name: 'go', arguments: {} };

let scene: DoorScene;
let server: ScriptedServer;
const streams: DoorStream[] = [];

beforeAll(async () => {
  server = await startScriptedServer({
    ...MODERN_ANSWERS,
    'tools/list': () => ({ tools: NAMES.map((name) => ({ name, inputSchema: { type: 'object' } })) }),
  });
  scene = await DoorScene.start();
  await scene.connect('srv', server, { tools_ttl_ms: 3_600_000 });
});
afterAll(async () => {
  await scene?.close();
  await server?.close();
});
afterEach(() => {
  for (const stream of streams.splice(0)) stream.close();
});

const calls = (): number => server.of('tools/call').length;
const actOn = (method: string, path: string, body = {}) => scene.furnisher.make(method, path, body);

interface Stopping {
  readonly code: string;
  /** Of the answer to a request that only lists or waits. */
  readonly status: number;
  stop(agent: DoorAgent): Promise<unknown>;
  start(agent: DoorAgent): Promise<unknown>;
}
const STOPS: readonly (readonly [string, Stopping])[] = [
  [
    'a Stop of the agent',
    {
      code: 'agent_stopped',
      status: 403,
      stop: ({ id }) => actOn('POST', `/v1/agents/${id}/stop`, { reason: 'r' }),
      start: ({ id }) => actOn('POST', `/v1/agents/${id}/resume`, { reason: 'r' }),
    },
  ],
  [
    'a Stop of the organization',
    {
      code: 'org_stopped',
      status: 403,
      stop: () => actOn('POST', '/v1/org/stop', { reason: 'r' }),
      start: () => actOn('POST', '/v1/org/start', { reason: 'r' }),
    },
  ],
];

describe.each(STOPS)('%s (rule MCP-7)', (_, { code, status, stop, start }) => {
  let agent: DoorAgent;
  beforeAll(async () => {
    agent = await scene.agent(`stopped by ${code}`);
  });

  it('ends every wait and stream at once, and calls nothing', async () => {
    const [at, before] = [agent.at(), calls()];
    streams.push(...(await Promise.all([at.listen(), at.subscribe()])));
    const task = await at.modern('tools/call', { ...ASK, arguments: { n: 0 } }, TASKS);
    const { taskId } = task.result;
    const waits = [
      at.legacy('tools/call', { ...ASK, arguments: { n: 1 } }),
      at.modern('tools/call', { ...ASK, arguments: { n: 2 } }),
      at.legacy('tools/call', { name: 'service_await_action', arguments: { action: taskId } }),
    ];
    const told = at.modern('tools/call', { ...ASK, arguments: { n: 3 } }, { meta: { progressToken: 'p' } });
    await vi.waitFor(async () => expect(await scene.waiting(agent)).toHaveLength(4), PATIENCE);
    await stop(agent);
    for (const wait of waits) expect(await wait).toMatchObject({ status, error: { code } });
    const { messages, error } = await told;
    expect(messages[0]).toMatchObject({ method: 'notifications/progress' });
    expect(error).toMatchObject({ code: -32603, data: { error: { code } } });
    await Promise.all(streams.map(({ ended }) => ended));
    expect(streams[0]?.messages).toEqual([]);
    expect(streams[1]?.messages.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    expect(await at.modern('tasks/get', { taskId }, TASKS)).toMatchObject({ status, error: { code } });
    await start(agent);
    expect((await at.modern('tasks/get', { taskId }, TASKS)).result).toMatchObject({ status: 'working' });
    expect(calls()).toBe(before);
  });

  it('refuses a call as a result that a model reads, and seals it; the other methods are refused', async () => {
    const [at, before] = [agent.at(), calls()];
    await stop(agent);
    const answer = await at.legacy('tools/call', GO);
    expect(answer).toMatchObject({ status: 200, result: { isError: true } });
    expect(textOf(answer)).toContain(code);
    expect(metaOf(answer)).toMatchObject({ 'service/code': code, 'service/deed': DEED });
    expect(await scene.action(metaOf(answer)['service/action'])).toMatchObject({ state: 'sealed' });
    for (const answered of [await at.modern('tools/list'), await at.modern('server/discover')]) {
      expect(answered).toMatchObject({ status, error: { code } });
    }
    const stream = await at.listen();
    expect(stream.status).toBe(status);
    await start(agent);
    expect(metaOf(await at.legacy('tools/call', GO))).toMatchObject({ 'service/status': 'executed' });
    expect(calls()).toBe(before + 1);
  });
});

describe('the end of a key', () => {
  it('ends what it waits for and what it listens to, and the action goes on', async () => {
    const agent = await scene.agent('revoked');
    const [at, before] = [agent.at(), calls()];
    streams.push(...(await Promise.all([at.listen(), at.subscribe()])));
    const waits = [at.legacy('tools/call', ASK), at.legacy('tools/call', ASK, { meta: { progressToken: 1 } })];
    const action = await scene.asked(agent);
    const [key] = (await scene.owner.get(`/v1/agents/${agent.id}/keys`)).json['data'] as { id: string }[];
    expect((await scene.owner.send('DELETE', `/v1/agents/${agent.id}/keys/${String(key?.id)}`)).status).toBe(200);
    const [plain, told] = await Promise.all(waits);
    expect(plain).toMatchObject({ status: 401, error: { code: 'api_key_revoked' } });
    expect(told?.error).toMatchObject({ code: -32603, data: { error: { code: 'api_key_revoked' } } });
    await Promise.all(streams.map(({ ended }) => ended));
    expect(await scene.action(action)).toMatchObject({ status: 'pending_approval' });
    expect(calls()).toBe(before);
  });
});

describe('a connector that is disabled', () => {
  it('shows no tools, which listeners hear, and a call of it is refused and sealed', async () => {
    const agent = await scene.agent('at a disabled connector');
    const [at, before] = [agent.at(), calls()];
    const [legacy, subscription] = await Promise.all([at.listen(), at.subscribe()]);
    streams.push(legacy, subscription);
    const switchTo = (status: string) => actOn('PATCH', '/v1/connectors/srv', { status });
    await switchTo('disabled');
    const changed = { method: 'notifications/tools/list_changed' };
    await vi.waitFor(() => expect(legacy.messages.at(-1)).toMatchObject(changed), PATIENCE);
    await vi.waitFor(() => expect(subscription.messages.at(-1)).toMatchObject(changed), PATIENCE);
    expect(namesIn(await at.modern('tools/list'))).toEqual(['service_await_action']);
    const answer = await at.legacy('tools/call', GO);
    const data = { code: 'tool_unknown', deed: DEED };
    expect(answer).toMatchObject({ status: 200, error: { code: -32602, data } });
    expect(answer.error['message']).toContain('The connector srv is disabled');
    expect(calls()).toBe(before);
    await switchTo('active');
    expect(metaOf(await at.legacy('tools/call', GO))).toMatchObject({ 'service/status': 'executed' });
  });
});
