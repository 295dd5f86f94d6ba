import { StopAgent } from '#libs/domain/agents/handlers';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { canonicalize, digestOf, type JsonObject } from '#libs/crypto';
import { openExecutionChange, type LivingAction } from '#libs/domain/gate';
import { decodeEvent, streamOf, type ActionId } from '#libs/domain/kernel';
import { ManualStarter } from '../support/gate-bench.js';
import { LosingStore } from '../support/losing-store.js';
import { isRecorded, RecoveryScene, type SceneOptions } from '../support/recovery-scene.js';
import { BY_CHARGE, refundsUpstream, refundTools, type Lie } from '../support/refunds-upstream.js';

let scene: RecoveryScene;
afterEach(() => scene.close());

const args = { charge: 'ch_1', amount: 500 };

interface Given extends Lie, Omit<SceneOptions, 'answer'> {
  readonly tools?: readonly JsonObject[];
}

const set = async ({ tools = refundTools(), config = {}, stores, onRead, ...options }: Given = {}) => {
  const upstream = refundsUpstream({ ...(stores && { stores }), ...(onRead && { onRead }) });
  scene = await RecoveryScene.set({ answer: upstream.answer, config: { tools: [...tools], ...config }, ...options });
  return upstream;
};

const refund = async () => (await scene.bench.submit({ tool: 'crm.refund', args })).action;

const recorded = async (id: ActionId) => (await scene.bench.action(id, isRecorded)) as LivingAction;

const typesIn = async (id: ActionId) =>
  (await scene.bench.store.readStream(streamOf('action', id))).map(({ type }) => type);

const evidenceOf = async ({ submission, witness }: LivingAction): Promise<JsonObject | null> => {
  const digest = witness?.evidence_digest ?? null;
  if (digest === null) return null;
  const body = await scene.bench.payloads.get(submission.action, 'observation', digest);
  expect(digestOf(body ?? '')).toBe(digest);
  return JSON.parse(body ?? 'null') as JsonObject;
};

describe('a tool that tells the truth', () => {
  it('is read back once, under the same id, and VERIFIED at L1', async () => {
    const upstream = await set();
    const action = await recorded(await refund());
    expect(action).toMatchObject({
      outcome: { status: 'succeeded' },
      witness: { level: 'L1', verdict: 'VERIFIED', method: 'read_back', reasons: [] },
    });
    expect(upstream.reads()).toBe(1);
    expect(scene.upstream.countFor(action.submission.action)).toBe(2);
    expect(await evidenceOf(action)).toMatchObject({
      answer: { status: 200 },
      expected: { 'body.amount': 500 },
      observed: { 'body.amount': 500 },
      differs: [],
    });
    expect((await typesIn(action.submission.action)).slice(-2)).toEqual(['ExecutionFinished', 'ActionWitnessed']);
  });

  it('stays open, and its connector in use, until it was read', async () => {
    await set();
    const id = await refund();
    await recorded(id);
    const events = await scene.bench.store.readStream(streamOf('action', id));
    const changes = events.map((event) => openExecutionChange(decodeEvent(event).event)?.change ?? null);
    expect(changes).toEqual(['open', null, null, null, null, 'close']);
  });

  it('that shows its work late is read until then', async () => {
    let held: JsonObject[] = [];
    const upstream = await set({
      tools: refundTools({ consistency: 'eventual', attempts: 3, interval_ms: 100 }),
      stores: (asked) => {
        held = [asked];
        return [];
      },
      onRead: (read) => {
        if (read === 2) upstream.refunds.set('re_1', held[0] as JsonObject);
        return true;
      },
    });
    expect((await recorded(await refund())).witness).toMatchObject({ verdict: 'VERIFIED' });
    expect(upstream.reads()).toBe(2);
  });
});

describe('a tool that lies ends as MISMATCH', () => {
  it.each<[string, Lie['stores'], readonly JsonObject[], readonly string[]]>([
    ['another amount', (asked) => [{ ...asked, amount: 50_000 }], refundTools(), ['body.amount']],
    ['another charge', (asked) => [{ ...asked, charge: 'ch_2' }], refundTools(), ['body.charge']],
    ['another id', (asked) => [{ ...asked, id: 're_9' }], refundTools(), ['body.id']],
    ['nothing done', () => [], refundTools({ on_not_found: 'violation' }), ['not_found']],
    ['done twice', (asked) => [asked, asked], refundTools(...BY_CHARGE), ['postcondition']],
    ['nothing done, of a list', () => [], refundTools(...BY_CHARGE), ['body.items[0].amount', 'postcondition']],
  ])('%s', async (_, stores, tools, reasons) => {
    await set({ ...(stores && { stores }), tools });
    expect(await recorded(await refund())).toMatchObject({
      outcome: { status: 'succeeded' },
      witness: { level: 'L1', verdict: 'MISMATCH', reasons },
    });
  });

  it('with what was expected and what was seen side by side', async () => {
    await set({ stores: (asked) => [{ ...asked, amount: 50_000 }] });
    const action = await recorded(await refund());
    expect(action.witness?.summary).toBe('A read does not show what the call should have done: body.amount.');
    expect(await evidenceOf(action)).toMatchObject({
      expected: { 'body.amount': 500 },
      observed: { 'body.amount': 50_000 },
      differs: ['body.amount'],
    });
  });
});

describe('a read that cannot say it leaves it UNVERIFIABLE', () => {
  const bySilence: Lie = { onRead: () => false };
  const byError: Lie = {
    onRead: (_, response) => {
      response.writeHead(500).end();
      return false;
    },
  };

  it.each<[string, Given, readonly string[]]>([
    ['not found', { stores: () => [] }, ['not_found']],
    ['no answer in time', { ...bySilence, config: { timeout_ms: 300 } }, ['timeout']],
    ['an error of the upstream', byError, ['upstream_error']],
    ['an argument that builds no request', { tools: refundTools({ args: { id: '../x' } }) }, ['validation_failed']],
    ['a result without that id', { tools: refundTools({ args: { id: '{{result.body.no}}' } }) }, ['result_missing']],
  ])('%s', async (_, given, reasons) => {
    await set(given);
    expect(await recorded(await refund())).toMatchObject({
      outcome: { status: 'succeeded' },
      witness: { level: 'L1', verdict: 'UNVERIFIABLE', method: 'read_back', reasons },
    });
  });

  it('a Stop between write and read: nothing more is sent', async () => {
    let agentsStopped: Promise<unknown> = Promise.resolve();
    const upstream = await set({
      stores: (asked) => {
        const { org, agent } = scene.bench;
        agentsStopped = scene.bench.commands.execute(new StopAgent(org, agent, null, scene.bench.metadata()));
        return [asked];
      },
    });
    const id = await refund();
    await agentsStopped;
    expect((await recorded(id)).witness).toMatchObject({ verdict: 'UNVERIFIABLE', reasons: ['agent_stopped'] });
    expect(upstream.reads()).toBe(0);
  });

  it('a read tool that was changed meanwhile is not the one that was judged', async () => {
    let changed: Promise<unknown> = Promise.resolve();
    const upstream = await set({
      stores: (asked) => {
        const [reader, ...others] = refundTools();
        changed = scene.bench.changeElsewhere({ tools: [{ ...reader, description: 'another' }, ...others] });
        return [asked];
      },
    });
    const id = await refund();
    await changed;
    const { witness } = await recorded(id);
    expect(witness).toMatchObject({ verdict: 'UNVERIFIABLE', reasons: ['connector_unavailable'] });
    expect(upstream.reads()).toBe(0);
  });
});

describe('a crash', () => {
  it('between claim and outcome: the write is read if its result is not needed, and stays unknown', async () => {
    const upstream = await set({ tools: refundTools(...BY_CHARGE) });
    upstream.refunds.set('re_1', args);
    const starter = new ManualStarter('exe_lost', null);
    const { action: id } = await scene.bench.submit({ tool: 'crm.refund', args }, scene.bench.handler(starter));
    expect(await scene.sweepUntil(isRecorded, id)).toMatchObject({
      outcome: { status: 'unknown' },
      witness: { level: 'L1', verdict: 'VERIFIED', reasons: [] },
    });
    expect(await typesIn(id)).toHaveLength(6);
  });

  it('between claim and outcome: the sweep that gives the call up begins the read, and no later one', async () => {
    const upstream = await set({ tools: refundTools(...BY_CHARGE) });
    upstream.refunds.set('re_1', args);
    const starter = new ManualStarter('exe_lost', null);
    const { action: id } = await scene.bench.submit({ tool: 'crm.refund', args }, scene.bench.handler(starter));
    await scene.sweepUntil(({ state }) => state !== 'executing', id);
    expect(await scene.bench.action(id, isRecorded)).toMatchObject({ witness: { verdict: 'VERIFIED' } });
  });

  it('leaves the write UNVERIFIABLE if the read needs its result', async () => {
    const upstream = await set();
    const id = await scene.bench.submit(
      { tool: 'crm.refund', args },
      scene.bench.handler(new ManualStarter('exe_lost', null)),
    );
    expect((await scene.sweepUntil(isRecorded, id.action)).witness).toMatchObject({
      verdict: 'UNVERIFIABLE',
      reasons: ['executor_lost', 'result_missing'],
    });
    expect(upstream.reads()).toBe(0);
  });

  it('between outcome and observation: another process reads, once it is silent', async () => {
    const upstream = await set({ onRead: (read) => read > 1 });
    // The first reader never ends, as if its process were gone.
    const id = await refund();
    await scene.bench.action(id, ({ state }) => state === 'witnessing');
    expect((await scene.sweepUntil(isRecorded, id)).witness).toMatchObject({ verdict: 'VERIFIED' });
    expect(upstream.reads()).toBeGreaterThanOrEqual(2);
    expect((await typesIn(id)).filter((type) => type === 'ActionWitnessed')).toHaveLength(1);
  });

  it('between observation and verdict: the evidence alone counts for nothing, and another process reads', async () => {
    const store = new LosingStore();
    await set({ store });
    const { payloads } = scene.bench;
    const put = payloads.put.bind(payloads);
    vi.spyOn(payloads, 'put').mockImplementation(async (payload) => {
      await put(payload);
      if (payload.kind === 'observation') throw new Error('the process is gone');
    });
    const { bench } = scene;
    const { executorId, executor } = bench;
    const starter = new ManualStarter(executorId, (accepted) => void executor.run(accepted).catch(() => undefined));
    const { action: id } = await bench.submit({ tool: 'crm.refund', args }, bench.handler(starter));
    await vi.waitUntil(() => [...scene.bench.payloads.rows.keys()].some((row) => row.includes('observation')), {
      timeout: 20_000,
    });
    expect(await scene.bench.action(id)).toMatchObject({ state: 'witnessing', witness: null });
    vi.restoreAllMocks();
    expect((await scene.sweepUntil(isRecorded, id)).witness).toMatchObject({ verdict: 'VERIFIED' });
    expect(await typesIn(id)).toHaveLength(6);
  });

  it('after the verdict, with its answer lost: there is one verdict', async () => {
    const store = new LosingStore();
    await set({ store });
    store.loses = 'ActionWitnessed';
    const id = await refund();
    await recorded(id);
    await vi.waitUntil(() => scene.bench.executor.underWayCount === 0, { timeout: 20_000 });
    expect((await typesIn(id)).filter((type) => type === 'ActionWitnessed')).toHaveLength(1);
  });

  it('a store that is away is waited for', async () => {
    const store = new LosingStore();
    await set({ store });
    store.isAwayFor = { type: 'ActionWitnessed', appends: 2 };
    expect((await recorded(await refund())).witness).toMatchObject({ verdict: 'VERIFIED' });
  });

  it('several readers at once come to one verdict', async () => {
    const upstream = await set({ tools: refundTools(...BY_CHARGE) });
    upstream.refunds.set('re_1', args);
    const starter = new ManualStarter('exe_lost', null);
    const { action: id } = await scene.bench.submit({ tool: 'crm.refund', args }, scene.bench.handler(starter));
    await scene.sweepUntil(({ state }) => state !== 'executing', id);
    const readers = ['a', 'b', 'c'].map((name) => scene.executorNamed(`exe_${name}`));
    await Promise.all(readers.map((reader) => reader.readBack(id)));
    expect((await typesIn(id)).slice(-1)).toEqual(['ActionWitnessed']);
    expect(await typesIn(id)).toHaveLength(6);
  });
});

it('the evidence is stored as canonical text', async () => {
  await set();
  const action = await recorded(await refund());
  const { submission, witness } = action;
  const body = await scene.bench.payloads.get(submission.action, 'observation', witness!.evidence_digest!);
  expect(body).toBe(canonicalize(JSON.parse(body!) as JsonObject));
});

describe('a rule that asks for level L1', () => {
  const POLICY = `version: 1
default: deny
rules:
  - id: confirmed
    match:
      tools:
        - crm.*
    decision: allow
    verify: L1
`;

  it('is met by a read-back, and by nothing but one', async () => {
    await set();
    await scene.bench.enforce(POLICY);
    expect((await recorded(await refund())).witness).toMatchObject({ level: 'L1', verdict: 'VERIFIED' });
    const { action } = await scene.bench.submit({ tool: 'crm.list_refunds', args: { charge: 'ch_1' } });
    expect(await recorded(action)).toMatchObject({
      outcome: { status: 'succeeded' },
      witness: { level: 'L0', verdict: 'UNVERIFIABLE', reasons: ['verify_level_unmet'] },
    });
  });
});
