import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { operatorMetadata, type OrgId } from '#libs/domain/kernel';
import { parseConfig } from '#libs/infra/config';
import { Deployment } from '#libs/infra/deployment';
import { FLEET_SETTINGS } from '../chaos/chaos-scene.js';
import { headersOf } from '../http/error-codes/sent.js';
import { StagePeople } from '../http/error-codes/stage-people.js';
import { Fleet } from '../support/fleet.js';
import type { FleetProcess } from '../support/fleet-process.js';
import { type DoorStream, McpClient, type RpcReplied } from '../support/mcp-client.js';
import {
  MODERN_ANSWERS,
  type McpRequest,
  resultOf,
  type ScriptedServer,
  sendJson,
  startScriptedServer,
} from '../support/mcp-server.js';
import { runAgs } from '../support/run-ags.js';
import { silentLogger } from '../support/silent-logger.js';

const DEADLINE_MS = 240_000;
const PATIENCE = { timeout: 60_000, interval: 20 };
const POLICY = `version: 1
default: deny
rules:
  - id: asked
    match:
      tools:
        - srv.ask_*
    decision: require_approval
  - id: others
    match:
      tools:
        - srv.*
    decision: allow
`;
const TASKS = { capabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } };
const PROGRESS = { meta: { progressToken: 'p' } };
const KEY = (key: string) => ({ meta: { 'service/idempotency_key': key } });
const KEYED = { meta: { ...PROGRESS.meta, ...KEY('of a client that asks for progress').meta } };

/** How clients wait that come back, each in its own way. */
const WAITS = ['key', 'state', 'task', 'repeat', 'await'] as const;
type Wait = (typeof WAITS)[number];
const askOf = (wait: Wait) => ({ name: `ask_${wait}`, arguments: { of: wait } });
const toolOf = (name: string) => ({ name, inputSchema: { type: 'object' } });

let fleet: Fleet;
let operator: Deployment;
let server: ScriptedServer;
let people: StagePeople;
/** Calls of `slow_*` that the server still works on. */
const working: McpRequest[] = [];
/** By the name of the tool. */
const actions = new Map<string, string>();
let state = '';

const api = (): FleetProcess => fleet.running('api')[0] as FleetProcess;
const client = (): McpClient =>
  new McpClient(`${api().baseUrl}/mcp/srv`, { Authorization: `Bearer ${fleet.agentKey}` });
const effects = (tool: string): number =>
  server.of('tools/call').filter(({ params }) => params['name'] === tool).length;
const metaOf = ({ result }: RpcReplied) => result['_meta'] as Record<string, unknown>;
const textOf = ({ result }: RpcReplied) => JSON.stringify(result['content']);
const lost = (call: Promise<unknown>) =>
  call.then(
    (answer) => answer,
    () => 'lost',
  );
const asAdmin = async (method: string, path: string, body?: unknown) => {
  const answer = await fleet.call(method, path, { key: fleet.adminKey, ...(body === undefined ? {} : { body }) });
  expect(answer.status, answer.text).toBeLessThan(300);
  return answer.json;
};
const questions = async (): Promise<{ id: string; action: string; tool: string }[]> =>
  (await asAdmin('GET', '/v1/approvals?status=pending'))['data'] as { id: string; action: string; tool: string }[];
const approve = async (tool: string): Promise<void> => {
  const path = `/v1/approvals/${String(actions.get(tool)).replace('act_', 'apr_')}`;
  const send = (method: string, at: string, body?: unknown) =>
    fleet.call(method, at, { headers: headersOf(method, people.owner), ...(body === undefined ? {} : { body }) });
  const { context_digest } = (await send('GET', path)).json;
  const said = await send('POST', `${path}/approve`, { context_digest });
  expect(said.status, said.text).toBe(200);
};
/** From the next time that the process comes by. */
const killAt = async (process: FleetProcess, point: string): Promise<void> => {
  await writeFile(join(String(fleet.environment['SERVICE_STATE_DIR']), 'failpoints'), `${point}=kill@1`);
  const saidBefore = process.output.length;
  process.signal('SIGUSR2');
  await vi.waitFor(() => expect(process.output.slice(saidBefore)).toContain('failpoints are armed'), PATIENCE);
};
const anotherApi = async (): Promise<void> => {
  for (const gone of fleet.running('api')) fleet.takeOut(gone);
  await fleet.start('api', 1);
};

beforeAll(async () => {
  const tools = [...WAITS.map((wait) => `ask_${wait}`), 'quick', 'slow_api', 'slow_worker'].map(toolOf);
  server = await startScriptedServer({
    ...MODERN_ANSWERS,
    'tools/list': () => ({ tools }),
    'tools/call': (request) => {
      const name = request.params['name'] as string;
      if (!name.startsWith('slow')) return { content: [{ type: 'text', text: `done: ${name}` }] };
      working.push(request);
      return null;
    },
  });
  fleet = await Fleet.prepare(FLEET_SETTINGS);
  await Promise.all((['projector', 'worker', 'api'] as const).map((program) => fleet.start(program, 1)));
  operator = await Deployment.open(parseConfig(fleet.environment), 'killed processes test', silentLogger);
  const org = fleet.org as OrgId;
  const { owner } = await operator.members().organization(org);
  const link = await operator.persons().issueLink(org, owner, operatorMetadata(operator, org));
  people = new StagePeople({
    send: (method, path, { json } = {}) => fleet.call(method, path, json === undefined ? {} : { body: json }),
    printed: () => '',
    ownerToken: () => link,
  });
  await people.signOwnerIn();
  const config = { url: server.url.replace('mcp.example', '127.0.0.1'), auth: { kind: 'none' }, timeout_ms: 60_000 };
  await asAdmin('POST', '/v1/connectors', { type: 'mcp_http', name: 'srv', config });
  const policy = await asAdmin('POST', '/v1/policies', { name: 'Asks', source: POLICY });
  await asAdmin('POST', `/v1/policies/${String(policy['id'])}/versions/1/activate`, { mode: 'enforce' });
}, DEADLINE_MS);
afterAll(async () => {
  await operator?.close();
  await fleet?.stop();
  await server?.close();
}, DEADLINE_MS);

describe('an api that is told to stop while clients wait at its door', () => {
  it(
    'ends each wait as the door promises, and its streams in order, and leaves',
    async () => {
      const at = client();
      const streams: DoorStream[] = await Promise.all([at.listen(), at.subscribe()]);
      const waits = [
        at.legacy('tools/call', askOf('key'), KEYED),
        at.legacy('tools/call', askOf('repeat')),
        at.modern('tools/call', askOf('state')),
        at.modern('tools/call', askOf('await'), PROGRESS),
      ] as const;
      const task = await at.modern('tools/call', askOf('task'), TASKS);
      await vi.waitFor(async () => expect(await questions()).toHaveLength(WAITS.length), PATIENCE);
      for (const { tool, action } of await questions()) actions.set(tool.replace('srv.', ''), action);
      expect(task.result).toMatchObject({ resultType: 'task', taskId: actions.get('ask_task') });
      const awaited = at.modern('tools/call', {
        name: 'service_await_action',
        arguments: { action: actions.get('ask_await') },
      });
      const rounds = [7, 8].map((round) =>
        at.modern('tools/call', { ...askOf('task'), requestState: `${String(actions.get('ask_task'))}:${round}` }),
      );
      await vi.waitFor(() => expect(streams[1]?.messages).toHaveLength(1), PATIENCE);
      // What was sent before it is under way by now.
      await at.legacy('ping');
      const leaving = api();
      expect(await leaving.end('SIGTERM'), leaving.output).toBe(0);

      const [key, repeat, byState, progress] = await Promise.all(waits);
      expect(key.messages[0]).toMatchObject({ method: 'notifications/progress' });
      for (const [answer, tool] of [
        [key, 'ask_key'],
        [repeat, 'ask_repeat'],
        [await awaited, 'ask_await'],
      ] as const) {
        expect(answer.result).toMatchObject({ isError: true });
        expect(textOf(answer)).toMatch(/waits for a person until .*, and nothing has run\..*service_await_action/);
        expect(textOf(answer)).toContain(actions.get(tool));
      }
      state = String(byState.result['requestState']);
      expect(byState.result).toMatchObject({ resultType: 'input_required' });
      expect(progress.result).toMatchObject({
        resultType: 'input_required',
        requestState: `${String(actions.get('ask_await'))}:1`,
      });
      const [seventh, eighth] = await Promise.all(rounds);
      expect(seventh?.result).toMatchObject({ requestState: `${String(actions.get('ask_task'))}:8` });
      expect(eighth?.result).toMatchObject({ resultType: 'complete', isError: true });
      expect(JSON.stringify(eighth?.result)).toContain('Call service_await_action with');
      await Promise.all(streams.map(({ ended }) => ended));
      const [legacy, subscription] = streams;
      expect(legacy?.messages).toEqual([]);
      expect(subscription?.messages.at(-1)).toMatchObject({ result: { resultType: 'complete' } });
    },
    DEADLINE_MS,
  );
});

describe('kill -9 of the api while clients wait for a person', () => {
  const comeBack = (at: McpClient): Record<Wait, Promise<RpcReplied>> => ({
    key: at.legacy('tools/call', askOf('key'), KEYED),
    state: at.modern('tools/call', { ...askOf('state'), requestState: state }),
    task: at.modern('tasks/get', { taskId: actions.get('ask_task') }, TASKS),
    repeat: at.legacy('tools/call', askOf('repeat')),
    await: at.legacy('tools/call', {
      name: 'service_await_action',
      arguments: { action: actions.get('ask_await') },
    }),
  });

  it(
    'their calls go on: whoever comes back to another api, in whichever way, gets the one result of the one call',
    async () => {
      await anotherApi();
      const broken = comeBack(client());
      expect((await broken.task).result).toMatchObject({ status: 'working' });
      const others = [broken.key, broken.state, broken.repeat, broken.await].map(lost);
      await client().legacy('ping');
      await api().end('SIGKILL');
      expect(await Promise.all(others)).toEqual(['lost', 'lost', 'lost', 'lost']);
      await anotherApi();
      const back = comeBack(client());
      expect((await back.task).result).toMatchObject({ status: 'working' });
      for (const wait of WAITS) await approve(`ask_${wait}`);
      for (const wait of ['key', 'state', 'repeat', 'await'] as const) {
        const answer = await back[wait];
        expect(textOf(answer)).toContain(`done: ask_${wait}`);
        expect(metaOf(answer)).toMatchObject({
          'service/action': actions.get(`ask_${wait}`),
          'service/status': 'executed',
          'service/replayed': true,
        });
      }
      const task = await vi.waitFor(async () => {
        const { result } = await comeBackForTask();
        expect(result).toMatchObject({ status: 'completed' });
        return result;
      }, PATIENCE);
      expect(JSON.stringify(task['result'])).toContain('done: ask_task');
      expect(WAITS.map((wait) => effects(`ask_${wait}`))).toEqual(WAITS.map(() => 1));
      expect(await questions()).toEqual([]);
    },
    DEADLINE_MS,
  );

  const comeBackForTask = () => client().modern('tasks/get', { taskId: actions.get('ask_task') }, TASKS);
});

describe('kill -9 of the api between the claim and the answer', () => {
  const slow = () => client().modern('tools/call', { name: 'slow_api' }, KEY('of a slow call'));
  const quick = () => client().legacy('tools/call', { name: 'quick' }, KEY('of a quick call'));

  it(
    'the same key finds the call, whether the server works on it or it has ended: one effect each',
    async () => {
      const { meta } = KEY('of a slow call');
      // Both are past the point of the kill once their progress is told, so that the quick call is the next to come by.
      const first = await client().progressing('slow_api', meta);
      expect(working).toHaveLength(1);
      // A client that gives up waiting, after it sent its call again with the same key while the first one is served.
      const impatient = await client().progressing('slow_api', meta);
      impatient.close();
      await expect(impatient.ended).rejects.toThrow();
      const dying = api();
      await killAt(dying, 'gate.reply');
      expect(await lost(quick())).toBe('lost');
      expect(await dying.ended).toMatchObject({ signal: 'SIGKILL' });
      await expect(first.ended).rejects.toThrow();
      await anotherApi();
      const [again, ended] = [slow(), await quick()];
      expect(textOf(ended)).toContain('done: quick');
      expect(metaOf(ended)).toMatchObject({ 'service/replayed': true, 'service/status': 'executed' });
      for (const request of working.splice(0)) {
        sendJson(request, 200, resultOf(request, { content: [{ type: 'text', text: 'done at last' }] }));
      }
      expect(textOf(await again)).toContain('done at last');
      expect(metaOf(await again)).toMatchObject({ 'service/replayed': true, 'service/status': 'executed' });
      expect([effects('quick'), effects('slow_api')]).toEqual([1, 1]);
    },
    DEADLINE_MS,
  );
});

describe('kill -9 of the worker while the server works', () => {
  it(
    'the outcome is unknown and says so, and no other worker calls the server again',
    async () => {
      const call = client().legacy('tools/call', { name: 'slow_worker' }, { meta: { progressToken: 1 } });
      await vi.waitFor(() => expect(working).toHaveLength(1), PATIENCE);
      await fleet.end('worker', 'SIGKILL');
      for (const request of working.splice(0)) request.response.destroy();
      await fleet.start('worker', 1);
      const answer = await call;
      expect(answer.result).toMatchObject({ isError: true });
      expect(metaOf(answer)).toMatchObject({ 'service/status': 'executed', 'service/verdict': 'UNVERIFIABLE' });
      expect(textOf(answer)).toContain(String(metaOf(answer)['service/action']));
      const action = await fleet.call('GET', `/v1/actions/${String(metaOf(answer)['service/action'])}`, {
        key: fleet.agentKey,
      });
      expect(action.json).toMatchObject({ execution: { status: 'unknown' } });
      expect(effects('slow_worker')).toBe(1);
    },
    DEADLINE_MS,
  );

  it(
    'the ledgers are whole, and every call has its deed',
    async () => {
      const audit = await runAgs(['audit', '--json'], { env: fleet.environment });
      expect(audit).toMatchObject({ code: 0, object: { result: 'intact', unsealed: 0 } });
    },
    DEADLINE_MS,
  );
});
