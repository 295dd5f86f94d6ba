import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type ActionRequest,
  CancelAction,
  CancelActionHandler,
  type LivingAction,
  type SubmittedAction,
} from '#libs/domain/gate';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench, ManualStarter } from '../support/gate-bench.js';

const ASKS = `version: 1
default: deny
rules:
  - id: asked
    match:
      tools:
        - crm.add
    decision: require_approval
  - id: allowed
    match:
      tools:
        - crm.get
    decision: allow
`;
const TOOLS = [
  { name: 'get', method: 'GET', path: '/v1/x', args: { id: { in: 'query', type: 'string' } } },
  { name: 'add', method: 'POST', path: '/v1/x', args: { id: { in: 'body', type: 'string' } } },
];

const ADD = { tool: 'crm.add', args: { id: '1' } } as const;
const CALL = { ...ADD, origin: 'mcp' } as const;

let bench: GateBench;

beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare('http://127.0.0.1:1', TOOLS);
  await bench.enforce(ASKS);
});
afterEach(() => bench.close());

/** Recorded, and run by nobody. */
const call = (changes: Partial<ActionRequest> = {}): Promise<SubmittedAction> =>
  bench.submit({ ...CALL, ...changes }, bench.handler(new ManualStarter('exe_test', null)));
const withdraw = (action: SubmittedAction['action']) =>
  new CancelActionHandler(bench.gate, bench.bus).execute(new CancelAction(action, bench.metadata()));

describe('a call that an MCP client repeats without a key', () => {
  it('while it waits for a person is the same action, and asks nobody twice (rule MCP-3)', async () => {
    const [first, second] = [await call(), await call()];
    expect(first.isReplay).toBe(false);
    expect(second).toEqual({ action: first.action, isReplay: true, isRefused: false, isExecuting: false });
  });

  it('at the same moment is one action as well', async () => {
    const submitted = await Promise.all(Array.from({ length: 8 }, () => call()));
    expect(new Set(submitted.map(({ action }) => action)).size).toBe(1);
    expect(submitted.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
  });

  it('after it has ended is a question of its own', async () => {
    const first = await call();
    await withdraw(first.action);
    const second = await call();
    expect(second).toMatchObject({ isReplay: false });
    expect(second.action).not.toBe(first.action);
    expect((await call()).action).toBe(second.action);
  });

  it.each<[string, Partial<ActionRequest>]>([
    ['with other arguments', { args: { id: '2' } }],
    ['for another person', { onBehalfOf: 'user-2' }],
    ['in another session', { session: 'run-2' }],
    ['with a key', { idempotencyKey: 'k' }],
  ])('%s is another action', async (_, changes) => {
    const first = await call();
    const second = await call(changes);
    expect(second).toMatchObject({ isReplay: false });
    expect(second.action).not.toBe(first.action);
  });

  it('through POST /v1/actions, where there are keys, is another action', async () => {
    const first = await call();
    const second = await bench.submit(ADD, bench.handler(new ManualStarter('exe_test', null)));
    expect(second.action).not.toBe(first.action);
  });

  it('that runs at once runs as often as it is sent', async () => {
    const [first, second] = [await call({ tool: 'crm.get' }), await call({ tool: 'crm.get' })];
    expect(second.action).not.toBe(first.action);
    expect(second.isReplay).toBe(false);
  });

  it('is recorded as what came through the door', async () => {
    const { action } = await call();
    const { submission } = (await bench.action(action)) as LivingAction;
    expect(submission).toMatchObject({ origin: 'mcp', idempotency_key_hash: null });
  });
});
