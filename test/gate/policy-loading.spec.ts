import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { LivingAction } from '#libs/domain/gate';
import { appendEvents } from '#libs/domain/kernel';
import { ActivatePolicyVersion, ActivatePolicyVersionHandler, type PolicyEvent } from '#libs/domain/policies';
import { MemoryEventStore } from '#libs/infra/event-store';
import { GateBench } from '../support/gate-bench.js';
import { testId } from '../support/given-log.js';
import { startUpstream, type Upstream } from '../support/upstream.js';

const TOOLS = [{ name: 'get', method: 'GET', path: '/v1/customers' }];
const DENY = 'version: 1\ndefault: deny\n';

let upstream: Upstream;
let store: MemoryEventStore;
let benches: GateBench[];

beforeAll(async () => {
  upstream = await startUpstream();
});
afterAll(() => upstream.close());
beforeEach(() => {
  store = new MemoryEventStore();
  benches = [];
});
afterEach(() => {
  for (const bench of benches) bench.close();
});

const service = (): GateBench => {
  const bench = new GateBench(store);
  benches.push(bench);
  return bench;
};
const organization = (): Promise<GateBench> => service().prepare(upstream.baseUrl, TOOLS);
/** The same organization in another process, which shares only the log. */
const anotherInstanceOf = ({ org, agent, key }: GateBench): GateBench => Object.assign(service(), { org, agent, key });
const decisionBy = async (bench: GateBench, since?: 'remembered') => {
  const { action } = await bench.submit({}, bench.handler(), bench.metadata(), since);
  return ((await bench.action(action)) as LivingAction).decision;
};

describe('an activation', () => {
  it('holds in every instance for the next call, whatever that instance remembers', async () => {
    const here = await organization();
    const there = anotherInstanceOf(here);
    expect(await decisionBy(there)).toMatchObject({ outcome: 'allow' });
    const policy = await here.enforce(DENY);
    await expect(decisionBy(there, 'remembered')).rejects.toThrow();
    expect(await decisionBy(there)).toMatchObject({ outcome: 'deny', policy, reason: 'default deny' });
    expect(await decisionBy(there, 'remembered')).toMatchObject({ outcome: 'deny', policy });
  });
});

describe('a version that cannot be loaded', () => {
  /** Enforces a version that a newer build has saved and this one cannot read. */
  const enforceUnreadable = async (bench: GateBench): Promise<void> => {
    const policy = await bench.enforce(DENY);
    const version: PolicyEvent = {
      type: 'PolicyVersionAdded',
      data: {
        org: bench.org,
        policy,
        version_id: testId('pv', 9),
        version: 2,
        source: 'version: 1\ndefault: allow\nfrom_another_build: true\n',
        source_hash: 'sha256:0' as never,
        version_hash: 'sha256:0' as never,
        notes: null,
        author: { type: 'system', id: null },
        origin: 'user',
        at: '2026-10-01T12:00:00.000Z',
      },
    };
    const metadata = { ...bench.metadata(), org: bench.org };
    await appendEvents(store, `policy-${policy}`, 1, [version], metadata);
    const named = { policy, version: '2', mode: 'enforce' as const };
    const activation = new ActivatePolicyVersion(bench.org, named, null, bench.metadata());
    await new ActivatePolicyVersionHandler(bench.streams, bench.runner).execute(activation);
  };

  it('refuses the calls of its organization, and of no other', async () => {
    const [broken, sound] = [await organization(), await organization()];
    await enforceUnreadable(broken);
    expect(await decisionBy(broken)).toMatchObject({
      outcome: 'deny',
      code: 'policy_unavailable',
      source: 'builtin',
      reason: 'version does not compile',
      policy_version: testId('pv', 9),
    });
    expect(await decisionBy(sound)).toMatchObject({ outcome: 'allow' });
  });

  it('lets calls through again once one that can be is enforced', async () => {
    const bench = await organization();
    await enforceUnreadable(bench);
    expect(await decisionBy(bench)).toMatchObject({ code: 'policy_unavailable' });
    await bench.enforce('version: 1\ndefault: allow\n');
    expect(await decisionBy(bench)).toMatchObject({ outcome: 'allow' });
  });
});
