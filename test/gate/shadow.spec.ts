import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PolicyJudge, type ActionEvent, type Decision, type LivingAction } from '#libs/domain/gate';
import {
  decodeEvent,
  NO_METER,
  type Meter,
  StoreUnavailable,
  streamOf,
  streamRef,
  type ActionId,
} from '#libs/domain/kernel';
import { actionSections } from '#libs/domain/ledger';
import { organizationDecider, type ActivePolicy, type LivingOrganization } from '#libs/domain/people';
import { compilePolicy, CompiledPolicies, type CompiledPolicy } from '#libs/domain/policies';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench } from '../support/gate-bench.js';
import { testId } from '../support/given-log.js';
import { policyInput } from '../support/given-policy-input.js';
import { silentLogger } from '../support/silent-logger.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [{ name: 'get', method: 'GET', path: '/v1/customers' }];
const DENY = 'version: 1\ndefault: deny\n';
const ALLOW = 'version: 1\ndefault: allow\n';

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

const act = async (request: Parameters<GateBench['submit']>[0] = {}): Promise<LivingAction> => {
  const { action } = await bench.submit(request);
  return (await bench.action(action, ({ state }) => state === 'recorded')) as LivingAction;
};
/** Waits until the version in shadow is loaded, which the first call starts. */
const loaded = async (): Promise<void> => {
  await act();
  const { state } = await bench.streams.load(streamRef(organizationDecider, bench.org));
  const { policy, versionId } = (state as LivingOrganization).shadow!;
  await bench.policies.load(policy, versionId);
};
const decided = async (id: ActionId) => {
  const events = (await bench.store.readStream(streamOf('action', id))).map((event) => decodeEvent(event).event);
  return (events as ActionEvent[]).find(({ type }) => type === 'ActionDecided')!.data;
};

describe('a version in shadow', () => {
  it('is asked about the same call and decides nothing of it', async () => {
    const policy = await bench.activate(DENY, 'shadow');
    await loaded();
    const action = await act();
    expect(action).toMatchObject({
      decision: { outcome: 'allow', rule_id: 'everything-of-crm' },
      shadow: { outcome: 'deny', code: 'policy_denied', rule_id: null, reason: 'default deny', policy, differs: true },
      outcome: { status: 'succeeded' },
    });
    expect(upstream.countFor(action.submission.action)).toBe(1);
    expect(await decided(action.submission.action)).toMatchObject({ shadow: action.shadow });
  });

  it('does not differ if it says the same', async () => {
    await bench.activate(ALLOW, 'shadow');
    await loaded();
    expect((await act()).shadow).toMatchObject({ outcome: 'allow', reason: 'default allow', differs: false });
  });

  it('judges the first call after an announced activation, in every process', async () => {
    const policy = await bench.activate(DENY, 'shadow');
    const { state } = await bench.streams.load(streamRef(organizationDecider, bench.org));
    const shadow = (state as LivingOrganization).shadow!;
    const other = new CompiledPolicies(bench.streams);
    new PolicyJudge(other, silentLogger).followShadows(bench.bus);
    await bench.judge.announceShadow(bench.org, shadow, bench.bus);
    expect((await act()).shadow).toMatchObject({ outcome: 'deny', reason: 'default deny', policy, differs: true });
    await vi.waitUntil(() => other.known(shadow.versionId) !== null, { timeout: 20_000 });
  });

  it('is not waited for: the first call says that it is loading, and a later one has its outcome', async () => {
    await bench.activate(DENY, 'shadow');
    expect((await act()).shadow).toMatchObject({ outcome: null, reason: 'loading', differs: false });
    await loaded();
    expect((await act()).shadow).toMatchObject({ outcome: 'deny' });
  });

  it('is absent if the slot is empty, and if the gate refused before any policy was asked', async () => {
    expect((await act()).shadow).toBeNull();
    await bench.activate(DENY, 'shadow');
    await loaded();
    const unknown = await act({ tool: 'crm.nothing' });
    expect(unknown).toMatchObject({ decision: { code: 'tool_unknown' }, shadow: null });
    expect(Object.keys(await decided(unknown.submission.action))).not.toContain('shadow');
  });

  it('is compared with the policy’s own outcome, before budgets and a lack of approvers', async () => {
    const five = '    decision: require_approval\n    approval:\n      required: 5\n';
    const asks = `version: 1\ndefault: deny\nrules:\n  - id: asked\n${five}`;
    await bench.enforce(asks);
    await bench.activate(asks, 'shadow');
    await loaded();
    expect(await act()).toMatchObject({
      decision: { outcome: 'deny', code: 'approval_unsatisfiable' },
      shadow: { outcome: 'require_approval', differs: false },
    });
  });

  it('is asked about a call that runs at the edge, too', async () => {
    await bench.activate(DENY, 'shadow');
    await loaded();
    const { action } = await bench.submit({ mode: 'proxy' });
    expect(await bench.action(action)).toMatchObject({ edge: {}, shadow: { outcome: 'deny', differs: true } });
  });

  it('stands in no deed', async () => {
    const before = await act();
    await bench.activate(DENY, 'shadow');
    await loaded();
    const sections = actionSections(await act());
    expect(Object.keys(sections.policy ?? {})).toEqual(Object.keys(actionSections(before).policy ?? {}));
    expect(JSON.stringify(sections)).not.toContain('shadow');
  });
});

describe('a version in shadow that fails', () => {
  const DECISION = { outcome: 'allow' } as Decision;
  const SLOT: ActivePolicy = { policy: testId('pol', 1), versionId: testId('pv', 1), version: 1, versionHash: '' };
  const ask = (policies: Partial<CompiledPolicies>) =>
    new PolicyJudge(policies as CompiledPolicies, silentLogger).shadowOf(bench.org, SLOT, policyInput(), DECISION);

  it('says so, and throws nothing at the call', () => {
    // With cost 0, because a costlier evaluation runs under a time limit that a busy machine may exceed.
    const broken = { isUsable: true, policy: { cost: 0 } as CompiledPolicy } as const;
    expect(ask({ known: () => broken })).toMatchObject({ outcome: null, reason: 'fault', differs: false });
  });

  it('is counted if it runs out of time, and has no outcome', () => {
    const condition = 'args.items.all(x, x * 3 + 1 > 0 && x * 5 + 2 > 0) && size(args.items) == 0';
    const rule = (id: number): string => `  - id: r${id}\n    when: ${condition}\n    decision: allow\n`;
    const source = `version: 1\ndefault: deny\nrules:\n${Array.from({ length: 10 }, (_, id) => rule(id)).join('')}`;
    const compiled = compilePolicy(source);
    if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
    const tripped: string[] = [];
    const meter: Meter = { ...NO_METER, policyTimeLimitTripped: (mode) => tripped.push(mode) };
    const policies = { known: () => ({ isUsable: true, policy: compiled.policy }) } as unknown as CompiledPolicies;
    const input = policyInput({ args: { items: Array.from({ length: 1_000 }, (_, index) => index) } });
    const said = new PolicyJudge(policies, silentLogger, meter).shadowOf(bench.org, SLOT, input, DECISION);
    expect([said, tripped]).toMatchObject([{ outcome: null, reason: 'time limit', differs: false }, ['shadow']]);
  });

  it('is loaded by the next call if it could not be loaded before', () => {
    let loads = 0;
    const load = () => {
      loads += 1;
      return Promise.reject(new StoreUnavailable('no answer'));
    };
    const policies = { known: () => null, load };
    expect([ask(policies), ask(policies)]).toMatchObject([{ reason: 'loading' }, { reason: 'loading' }]);
    expect(loads).toBe(2);
  });
});
