import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { agentDecider } from '#libs/domain/agents';
import { RevokeAgentKey, RollAgentKey, StopAgent, StopOrganization, SuspendAgent } from '#libs/domain/agents/handlers';
import { actionDecider, type LivingAction, MustAsk } from '#libs/domain/gate';
import { streamOf, streamRef, timestampOf, type ActionId } from '#libs/domain/kernel';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench, ManualStarter } from '../support/gate-bench.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [
  { name: 'get', method: 'GET', path: '/v1/customers', args: { id: { in: 'query', type: 'string' } } },
  { name: 'update', method: 'POST', path: '/v1/customers', args: { name: { in: 'body', type: 'string' } } },
];
const HOUR_MS = 60 * 60 * 1000;

let upstream: Upstream;
let bench: GateBench;

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(async () => {
  bench = await new GateBench(new MemoryEventStore()).prepare(upstream.baseUrl, TOOLS);
});
afterEach(() => bench.close());

const settled = async (id: ActionId): Promise<LivingAction> =>
  (await bench.action(id, (action) => action.state === 'recorded')) as LivingAction;

describe('an allowed call', () => {
  it('reaches the upstream once, with the action’s id', async () => {
    const { action } = await bench.submit({ tool: 'crm.update', args: { name: 'Ada' } });
    expect(await settled(action)).toMatchObject({ outcome: { status: 'succeeded' }, witness: { method: 'reported' } });
    expect(upstream.countFor(action)).toBe(1);
  });

  it('is in the log before its first byte: submitted, decided, ready and claimed in one append', async () => {
    const starter = new ManualStarter(bench.executorId, null);
    const { action } = await bench.submit({ tool: 'crm.update', args: { name: 'Ada' } }, bench.handler(starter));
    const events = await bench.store.readStream(streamOf('action', action));
    expect(events.map(({ type }) => type)).toEqual([
      'ActionSubmitted',
      'ActionDecided',
      'ExecutionReady',
      'ExecutionStarted',
    ]);
    expect(upstream.countFor(action)).toBe(0);
  });

  it('reads nothing from the store that was read since its caller was judged', async () => {
    const starter = new ManualStarter(bench.executorId, null);
    const call = async () => {
      const since = bench.streams.lastQuestion;
      await bench.streams.load(streamRef(agentDecider, bench.agent));
      await bench.submit({ tool: 'crm.get' }, bench.handler(starter), bench.metadata(), since);
    };
    await call();
    const heads = vi.spyOn(bench.store, 'heads');
    await call();
    expect(heads).toHaveBeenCalledOnce();
    expect(heads.mock.calls[0]?.[0].map((stream) => stream.split('-')[0]).sort()).toEqual([
      'agent',
      'connector',
      'org',
    ]);
  });

  it('hears of a Stop that was answered before its caller was judged', async () => {
    const call = async () => {
      const since = bench.streams.lastQuestion;
      await bench.streams.load(streamRef(agentDecider, bench.agent));
      return bench.submit({ tool: 'crm.get' }, bench.handler(), bench.metadata(), since);
    };
    await settled((await call()).action);
    await bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    expect(await settled((await call()).action)).toMatchObject({ decision: { outcome: 'deny', code: 'org_stopped' } });
  });

  it('with arguments that fail the schema fails, nothing sent', async () => {
    await bench.enforce('version: 1\ndefault: allow\n');
    const { action } = await bench.submit({ tool: 'crm.update', args: { name: 5 } });
    expect(await settled(action)).toMatchObject({
      outcome: { status: 'failed', error_code: 'validation_failed' },
      witness: null,
    });
    expect(upstream.countFor(action)).toBe(0);
  });
});

describe('a call that is judged from the cache', () => {
  const remembered = (fields: Parameters<GateBench['submit']>[0] = {}, starter?: ManualStarter) =>
    bench.submit(fields, starter ? bench.handler(starter) : bench.handler(), bench.metadata(), 'remembered');
  const actions = async (): Promise<number> => {
    const events = await bench.store.readAll(-1n, 10_000);
    return events.filter(({ type }) => type === 'ActionSubmitted').length;
  };
  const expectMustAsk = async (fields: Parameters<GateBench['submit']>[0] = {}): Promise<void> => {
    const before = await actions();
    const starter = new ManualStarter(bench.executorId, null);
    await expect(remembered(fields, starter)).rejects.toBeInstanceOf(MustAsk);
    expect([await actions(), starter.accepted, starter.withdrawn]).toEqual([before, [], []]);
  };
  beforeEach(async () => {
    await settled((await bench.submit({})).action);
  });

  it('reads nothing from the store, and is recorded and run like any other', async () => {
    const heads = vi.spyOn(bench.store, 'heads');
    const starter = new ManualStarter(bench.executorId, null);
    const { action } = await remembered({}, starter);
    expect(heads).not.toHaveBeenCalled();
    expect((await bench.store.readStream(streamOf('action', action))).map(({ type }) => type)).toEqual([
      'ActionSubmitted',
      'ActionDecided',
      'ExecutionReady',
      'ExecutionStarted',
    ]);
    const { action: run } = await remembered();
    expect(await settled(run)).toMatchObject({ outcome: { status: 'succeeded' } });
    expect(upstream.countFor(run)).toBe(1);
  });

  it('is refused, and the refusal recorded, if the cached state refuses it', async () => {
    await bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()));
    const { action } = await remembered();
    expect(await settled(action)).toMatchObject({ decision: { outcome: 'deny', code: 'org_stopped' } });
  });

  it.each<[string, () => Promise<unknown>]>([
    [
      'the organization was stopped',
      () => bench.elsewhere().commands.execute(new StopOrganization(bench.org, null, bench.metadata())),
    ],
    [
      'the agent was stopped',
      () => bench.elsewhere().commands.execute(new StopAgent(bench.org, bench.agent, null, bench.metadata())),
    ],
    [
      'its key was revoked',
      () => bench.elsewhere().commands.execute(new RevokeAgentKey(bench.org, bench.agent, bench.key, bench.metadata())),
    ],
    ['the connector was changed', () => bench.changeElsewhere({ timeout_ms: 5_000 })],
  ])('writes nothing where, in another process, %s', async (_what, change) => {
    await change();
    await expectMustAsk();
    const { action } = await bench.submit({});
    expect((await settled(action)).decision).toBeDefined();
  });

  it('writes nothing if its key is cached as revoked, or a stream is not cached', async () => {
    await expectMustAsk({ tool: 'erp.get' });
    await bench.commands.execute(new RevokeAgentKey(bench.org, bench.agent, bench.key, bench.metadata()));
    await expectMustAsk();
  });

  it('writes nothing if its key is cached as expired', async () => {
    const roll = { key: bench.key, livemode: false, overlapSeconds: 60 };
    await bench.commands.execute(new RollAgentKey(bench.org, bench.agent, roll, bench.metadata()));
    const { action } = await remembered();
    expect((await settled(action)).decision?.outcome).toBe('allow');
    bench.clock.jumpMs = 60_000;
    await expectMustAsk();
  });

  it('writes nothing if its Idempotency-Key names an action, which a call by the store then replays', async () => {
    const request = { idempotencyKey: 'key-1' };
    const { action } = await remembered(request);
    await expectMustAsk(request);
    expect(await bench.submit(request)).toMatchObject({ action, isReplay: true });
  });

  it('of two with one Idempotency-Key at the same moment writes one', async () => {
    const request = { idempotencyKey: 'key-1' };
    const ends = await Promise.allSettled([remembered(request), remembered(request)]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(ends.find((end) => end.status === 'rejected')?.reason).toBeInstanceOf(MustAsk);
  });
});

describe('a refused call is recorded, and never reaches the upstream', () => {
  it.each([
    ['an unknown connector', { tool: 'erp.get' }, 'There is no connector erp. Check the name'],
    ['an unknown tool', { tool: 'crm.nothing' }, 'The connector crm has no tool nothing. Check the name'],
    ['a malformed name', { tool: 'Crm!' }, 'This is no name of a tool.'],
    ['a name of 100 KB', { tool: `crm.${'a'.repeat(100_000)}` }, 'This is no name of a tool.'],
  ])('%s', async (_title, request, why) => {
    const { action } = await bench.submit(request);
    const message: unknown = expect.stringContaining(why);
    const decision = { outcome: 'deny', code: 'tool_unknown', source: 'builtin', reason: 'tool_unknown', message };
    expect(await settled(action)).toMatchObject({ decision, sealingRevision: 1 });
    expect(upstream.countFor(action)).toBe(0);
  });

  it('by the policy, with the rule’s own sentence', async () => {
    await bench.enforce(
      'version: 1\ndefault: allow\nrules:\n  - id: no\n    decision: deny\n    message: Not on Sundays.\n',
    );
    const { action } = await bench.submit({});
    expect(await settled(action)).toMatchObject({
      decision: { code: 'policy_denied', source: 'rule', rule_id: 'no', message: 'Not on Sundays.' },
    });
  });

  it.each([
    [
      'a stopped agent',
      () => bench.commands.execute(new StopAgent(bench.org, bench.agent, null, bench.metadata())),
      'agent_stopped',
    ],
    [
      'a suspended agent',
      () => bench.commands.execute(new SuspendAgent(bench.org, bench.agent, null, bench.metadata())),
      'agent_suspended',
    ],
    [
      'a stopped organization',
      () => bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata())),
      'org_stopped',
    ],
  ])('of %s', async (_title, stop, code) => {
    await stop();
    const { action } = await bench.submit({});
    expect(await settled(action)).toMatchObject({ decision: { outcome: 'deny', code, source: 'stop' } });
  });

  it('a disabled connector provides no tools, and the agent reads how it is enabled', async () => {
    await bench.setConnector('disabled');
    const { action } = await bench.submit({});
    const { decision } = await settled(action);
    expect(decision?.code).toBe('tool_unknown');
    expect(decision?.message).toMatch(
      /^The connector crm is disabled, .* PATCH \/v1\/connectors\/crm and {"status": "active"}\.$/,
    );
    expect(decision?.message).not.toContain('Check the name');
  });
});

describe('Stop after acceptance and before the first byte', () => {
  it.each([
    ['agent_stopped', () => bench.commands.execute(new StopAgent(bench.org, bench.agent, null, bench.metadata()))],
    ['org_stopped', () => bench.commands.execute(new StopOrganization(bench.org, null, bench.metadata()))],
    [
      'api_key_revoked',
      () => bench.commands.execute(new RevokeAgentKey(bench.org, bench.agent, bench.key, bench.metadata())),
    ],
    ['connector_unavailable', () => bench.setConnector('disabled')],
  ])('%s: failed, nothing sent (INV-14)', async (code, change) => {
    const starter = new ManualStarter(bench.executorId, null);
    const { action } = await bench.submit({ tool: 'crm.update', args: { name: 'Ada' } }, bench.handler(starter));
    await change();
    const [accepted] = starter.accepted;
    await bench.executor.run(accepted!);
    expect(await settled(action)).toMatchObject({ outcome: { status: 'failed', error_code: code }, witness: null });
    expect(upstream.countFor(action)).toBe(0);
  });
});

describe('an Idempotency-Key (rules GATE-12 and GATE-13)', () => {
  const request = { tool: 'crm.update', args: { name: 'Ada' }, idempotencyKey: 'order-17' };

  it('names one action: 1,000 duplicates at once, one effect', async () => {
    const handler = bench.handler();
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => bench.submit(request, handler)));
    const ids = new Set(answers.map(({ action }) => action));
    expect(ids.size).toBe(1);
    expect(answers.filter(({ isReplay }) => !isReplay)).toHaveLength(1);
    const [id] = ids;
    await settled(id!);
    expect(upstream.countFor(id!)).toBe(1);
  });

  it('compares the request, not its spelling: member order does not matter', async () => {
    await bench.enforce('version: 1\ndefault: allow\n');
    const first = await bench.submit({ ...request, args: { a: 1, b: 2 } });
    const second = await bench.submit({ ...request, args: { b: 2, a: 1 } });
    expect(second).toMatchObject({ action: first.action, isReplay: true });
  });

  it.each([
    ['another argument', { args: { name: 'Bob' } }],
    ['another tool', { tool: 'crm.get' }],
    ['another person', { onBehalfOf: 'user-2' }],
    ['another session', { session: 'session-2' }],
  ])('with %s is 422 idempotency_conflict', async (_title, change) => {
    await bench.submit(request);
    await expect(bench.submit({ ...request, ...change })).rejects.toMatchObject({
      code: 'idempotency_conflict',
      status: 422,
      param: 'Idempotency-Key',
    });
  });

  it('replays a refusal as it was', async () => {
    const refused = { tool: 'erp.get', idempotencyKey: 'order-18' };
    const first = await bench.submit(refused);
    expect(await bench.submit(refused)).toMatchObject({ action: first.action, isReplay: true });
  });

  it('keeps the original’s tool digest: a changed connector does not make the retry another request', async () => {
    const first = await bench.submit(request);
    await bench.setConnector('disabled');
    expect(await bench.submit(request)).toMatchObject({ action: first.action, isReplay: true });
  });

  it('answers from before a Stop: nothing new runs (rule GATE-12)', async () => {
    const first = await bench.submit(request);
    await bench.commands.execute(new StopAgent(bench.org, bench.agent, null, bench.metadata()));
    expect(await bench.submit(request)).toMatchObject({ action: first.action, isReplay: true });
  });

  it('is remembered for 24 hours to the millisecond, again and again', async () => {
    const start = Date.parse('2026-10-01T00:00:00.000Z');
    const at = (ms: number) => bench.submit(request, bench.handler(), bench.metadata(timestampOf(start + ms)));
    const first = await at(0);
    expect(await at(24 * HOUR_MS - 1)).toMatchObject({ action: first.action, isReplay: true });
    const second = await at(24 * HOUR_MS);
    expect(second.isReplay).toBe(false);
    expect(second.action).not.toBe(first.action);
    const third = await at(50 * HOUR_MS);
    expect(third.isReplay).toBe(false);
    expect(await at(51 * HOUR_MS)).toMatchObject({ action: third.action, isReplay: true });
  });

  it('passes over an abandoned submission', async () => {
    const id = bench.ids.actionId(bench.org, bench.agent, 'order-17', 0);
    const metadata = bench.metadata();
    await bench.runner.run(actionDecider, id, { type: 'AbandonSubmission', data: { action: id }, metadata }, metadata);
    const { action, isReplay } = await bench.submit(request);
    expect({ isReplay, isOther: action !== id }).toEqual({ isReplay: false, isOther: true });
  });

  it('is the agent’s own: another key is another action', async () => {
    const first = await bench.submit(request);
    const second = await bench.submit({ ...request, idempotencyKey: 'order-17 ' });
    expect(second.action).not.toBe(first.action);
  });
});

describe('while earlier outcomes wait too long for their seals', () => {
  it('no new action is taken (rule GATE-9)', async () => {
    bench.backlog.ageMs = bench.gate.settings.unsealedLimitMs;
    await expect(bench.submit({})).rejects.toMatchObject({ code: 'service_unavailable', status: 503 });
    bench.backlog.ageMs -= 1;
    await expect(bench.submit({})).resolves.toMatchObject({ isReplay: false });
  });
});
