import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { newPublicKey } from '../http/access-matrix/furniture.js';
import { type DoorAgent, DoorScene, metaOf, PATIENCE, TASKS, textOf } from '../support/door-scene.js';
import type { DoorStream } from '../support/mcp-client.js';
import {
  MODERN_ANSWERS,
  type McpRequest,
  resultOf,
  type ScriptedServer,
  sendJson,
  startScriptedServer,
} from '../support/mcp-server.js';

const ASK = { name: 'ask', arguments: { id: '1' } };
const SLOW = { name: 'slow', arguments: {} };
const RATE_LIMITED = { status: 429, error: { type: 'rate_limit_error', code: 'rate_limited' } };
const INVALID = { status: 200, error: { code: -32602 } };

let scene: DoorScene;
let server: ScriptedServer;
const working: McpRequest[] = [];
const streams: DoorStream[] = [];

beforeAll(async () => {
  server = await startScriptedServer({
    ...MODERN_ANSWERS,
    'tools/list': () => ({ tools: ['ask', 'slow'].map((name) => ({ name, inputSchema: { type: 'object' } })) }),
    'tools/call': (request) => {
      if (request.params['name'] !== 'slow') return { content: [{ type: 'text', text: 'done' }] };
      working.push(request);
      return null;
    },
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
const answerWorking = (): void => {
  for (const request of working.splice(0)) {
    sendJson(request, 200, resultOf(request, { content: [{ type: 'text', text: 'done at last' }] }));
  }
};
/** An action that waits for a person, and nobody who waits for it. */
const asked = async (agent: DoorAgent): Promise<string> => {
  const { result } = await agent.at().modern('tools/call', ASK, TASKS);
  return String(result['taskId']);
};

describe('a client that comes back with the state of its call', () => {
  const resume = (agent: DoorAgent, requestState: unknown, changes = {}, options = {}) =>
    agent.at().modern('tools/call', { ...ASK, ...changes, requestState }, options);

  it('gets the result when a person has decided meanwhile', async () => {
    const agent = await scene.agent('comes back');
    const [action, before] = [await asked(agent), calls()];
    const waits = resume(agent, `${action}:1`);
    await scene.decide(action, 'approve');
    const answer = await waits;
    expect(textOf(answer)).toBe('done');
    expect(metaOf(answer)).toMatchObject({ 'service/action': action, 'service/replayed': true });
    expect(textOf(await resume(agent, `${action}:8`))).toBe('done');
    expect(calls()).toBe(before + 1);
  });

  it('with a state that is not of this call gets -32602, and nothing changes', async () => {
    const [agent, stranger] = await Promise.all([scene.agent('has a state'), scene.agent('has none')]);
    const [action, before] = [await asked(agent), calls()];
    const last = action.slice(-1) === '0' ? '1' : '0';
    for (const state of [
      action,
      `${action}:`,
      `${action}:10`,
      `${action}:-1`,
      `${action}:1:1`,
      ` ${action}:1`,
      `${action}:1\n`,
      `${action.slice(0, -1)}${last}:1`,
      `${action.replace('act_', 'apr_')}:1`,
      '',
      null,
      true,
      { action },
    ]) {
      expect(await resume(agent, state), JSON.stringify(state)).toMatchObject(INVALID);
    }
    const other = { name: 'ask', arguments: { id: '2' } };
    expect(await resume(agent, `${action}:1`, other)).toMatchObject(INVALID);
    expect(await resume(agent, `${action}:1`, { name: 'slow' })).toMatchObject(INVALID);
    expect(await resume(agent, `${action}:1`, {}, { meta: { 'service/session': 'run-2' } })).toMatchObject(INVALID);
    expect(await resume(stranger, `${action}:1`)).toMatchObject(INVALID);
    expect(await scene.waiting(agent)).toEqual([action]);
    expect([await scene.actionsOf(agent), await scene.actionsOf(stranger), calls()]).toEqual([1, 0, before]);
  });
});

describe('what another agent began', () => {
  it('is not there: no task, no result, no way to end it', async () => {
    const [agent, stranger] = await Promise.all([scene.agent('began it'), scene.agent('wants it')]);
    const [action, before] = [await asked(agent), calls()];
    const at = stranger.at();
    for (const method of ['tasks/get', 'tasks/update', 'tasks/cancel']) {
      expect(await at.modern(method, { taskId: action }, TASKS), method).toMatchObject(INVALID);
    }
    const wait = (args: object) => at.modern('tools/call', { name: 'service_await_action', arguments: args });
    for (const args of [{ action }, { action: 'act_x' }, { action, more: 1 }, { action: null }, {}]) {
      expect(await wait(args)).toMatchObject(INVALID);
    }
    expect(await scene.action(action)).toMatchObject({ status: 'pending_approval' });
    expect(await scene.actionsOf(stranger)).toBe(0);
    await scene.decide(action, 'approve');
    const get = (by: DoorAgent) => by.at().modern('tasks/get', { taskId: action }, TASKS);
    await vi.waitFor(async () => expect((await get(agent)).result).toMatchObject({ status: 'completed' }), PATIENCE);
    expect(await get(stranger)).toMatchObject(INVALID);
    expect(await wait({ action })).toMatchObject(INVALID);
    expect(calls()).toBe(before + 1);
  });
});

describe('a client that gives up and sends its call again', () => {
  it('with the same key is the same call, while it runs and afterwards: one effect', async () => {
    const agent = await scene.agent('is impatient');
    const before = calls();
    const options = { meta: { 'service/idempotency_key': 'tool-use-1' } };
    const call = (more = {}) => agent.at().modern('tools/call', SLOW, { ...options, ...more });
    const closing = new AbortController();
    const first = call({ signal: closing.signal });
    await vi.waitFor(() => expect(working).toHaveLength(1), PATIENCE);
    closing.abort();
    await expect(first).rejects.toThrow();
    const second = call();
    const other = agent.at().modern('tools/call', { ...SLOW, arguments: { x: 1 } }, options);
    expect(await other).toMatchObject({ status: 422, error: { code: 'idempotency_conflict' } });
    answerWorking();
    const answers = [await second, await call()];
    expect(answers.map(textOf)).toEqual(['done at last', 'done at last']);
    expect(new Set(answers.map((answer) => metaOf(answer)['service/action'])).size).toBe(1);
    for (const answer of answers) expect(metaOf(answer)).toMatchObject({ 'service/replayed': true });
    expect([calls(), await scene.actionsOf(agent)]).toEqual([before + 1, 1]);
  });
});

describe('an agent that has to sign what it asks for', () => {
  it('is refused with intent_required at the door, and nothing is recorded', async () => {
    const agent = await scene.agent('signs');
    const before = calls();
    await scene.furnisher.make('POST', `/v1/agents/${agent.id}/intent-keys`, { public_key: newPublicKey() });
    await scene.furnisher.make('PATCH', `/v1/agents/${agent.id}`, { intent_mode: 'required' });
    const refused = { status: 403, error: { code: 'intent_required' } };
    const headers = { 'Service-Intent': 'eyJhbGciOiJFZERTQSJ9..c2lnbmF0dXJl' };
    for (const options of [{}, { headers }, { meta: { 'service/idempotency_key': 'k' } }, TASKS]) {
      expect(await agent.at().modern('tools/call', SLOW, options)).toMatchObject(refused);
    }
    expect(await agent.at().legacy('tools/call', ASK)).toMatchObject(refused);
    expect(await agent.at().modern('tools/list')).toMatchObject({ status: 200 });
    expect([calls(), await scene.actionsOf(agent)]).toEqual([before, 0]);
  });
});

describe('a word of ours in _meta', () => {
  it('that is misspelt is refused: missed in silence, it would protect from nothing', async () => {
    const agent = await scene.agent('misspells');
    const before = calls();
    const meta = { 'service/idempotency-key': 'one' };
    expect(await agent.at().modern('tools/call', SLOW, { meta })).toMatchObject({
      status: 400,
      error: { code: 'validation_failed', param: 'params._meta.service/idempotency-key' },
    });
    expect([calls(), await scene.actionsOf(agent)]).toEqual([before, 0]);
  });
});

describe('how much one agent may hold open', () => {
  it('are twenty waits for earlier calls: one more is rate_limited, and its action goes on', async () => {
    const agent = await scene.agent('waits a lot');
    const [action, at] = [await asked(agent), agent.at()];
    const closing = new AbortController();
    const wait = (options = {}) =>
      at.modern('tools/call', { name: 'service_await_action', arguments: { action } }, options);
    // The other twenty are held until a person decides.
    const waits = Array.from({ length: 21 }, () => wait({ signal: closing.signal }));
    const limited = await Promise.race(waits);
    const held = waits.map((one) => one.catch(() => null));
    expect(limited).toMatchObject(RATE_LIMITED);
    expect(limited.headers.get('retry-after')).toBe('1');
    expect(await at.modern('tools/call', { ...ASK, requestState: `${action}:1` })).toMatchObject(RATE_LIMITED);
    // A call is taken, and told how to go on: in a client's own way, or in words.
    expect((await at.modern('tools/call', ASK)).result).toMatchObject({ requestState: `${action}:1` });
    expect(textOf(await at.legacy('tools/call', ASK))).toContain(`service_await_action with {"action": "${action}"}`);
    // What needs no long wait is served as before, and so is everybody else.
    expect((await at.modern('tasks/get', { taskId: action }, TASKS)).result).toMatchObject({ status: 'working' });
    closing.abort();
    await Promise.all(held);
    await scene.decide(action, 'deny');
    await vi.waitFor(async () => expect(await wait()).toMatchObject({ result: { isError: true } }), PATIENCE);
  });

  it('are eight streams, of which kind they may be: one more is rate_limited until one has closed', async () => {
    const agent = await scene.agent('listens a lot');
    const at = agent.at();
    for (let count = 0; count < 4; count += 1) streams.push(await at.listen(), await at.subscribe());
    expect(streams.map(({ status }) => status)).toEqual(streams.map(() => 200));
    const ninth = await at.modern('subscriptions/listen', { notifications: { toolsListChanged: true } });
    expect(ninth).toMatchObject(RATE_LIMITED);
    expect(ninth.headers.get('retry-after')).toBe('5');
    expect((await at.listen()).status).toBe(429);
    const other = await (await scene.agent('listens once')).at().listen();
    streams.push(other);
    expect(other.status).toBe(200);
    streams[3]?.close();
    await vi.waitFor(async () => {
      const again = await at.listen();
      streams.push(again);
      expect(again.status).toBe(200);
    }, PATIENCE);
  });
});
