import { CreateOrganization } from '#libs/domain/agents/handlers';
import { describe, expect, it } from 'vitest';
import { type OrgId, StoreUnavailable, streamRef } from '#libs/domain/kernel';
import { type LivingOrganization, organizationDecider } from '#libs/domain/people';
import { DEFAULT_DENY_POLICY, DeactivatePolicy, DeactivatePolicyHandler, policyDecider } from '#libs/domain/policies';
import { GateBench } from '../../../../test/support/gate-bench.js';
import { MemoryEventStore } from '../event-store/index.js';
import { SystemRandomness } from '../runtime/index.js';
import { ensureFirstPolicy } from './first-policy.js';

const FIRST = {
  name: 'Default deny',
  source: DEFAULT_DENY_POLICY,
  origin: 'starter',
  reason: 'A new organization denies everything',
  commands: 'org-create',
} as const;

const newOrganization = async () => {
  const bench = new GateBench(new MemoryEventStore());
  const { organization } = await bench.commands.execute(new CreateOrganization('Acme', bench.metadata()));
  const { streams, runner, clock } = bench;
  return { bench, org: organization.org, deployment: { streams, runner, clock, randomness: new SystemRandomness() } };
};
const enforcedIn = async (bench: GateBench, org: OrgId) => {
  const { state } = await bench.streams.load(streamRef(organizationDecider, org));
  return (state as LivingOrganization).enforced;
};

describe('the first policy of an organization', () => {
  it('is made and enforced, and says in its own words that everything is denied', async () => {
    const { bench, org, deployment } = await newOrganization();
    expect(await ensureFirstPolicy(deployment, org, FIRST)).toMatch(/^deed_/);
    const enforced = await enforcedIn(bench, org);
    expect(enforced).toMatchObject({ version: 1 });
    const { state } = await bench.streams.load(streamRef(policyDecider, enforced!.policy));
    expect(state).toMatchObject({ org, name: 'Default deny' });
    expect(await bench.policies.load(enforced!.policy, enforced!.versionId)).toMatchObject({
      isUsable: true,
      policy: { defaultOutcome: 'deny', rules: [] },
    });
  });

  it('is enforced by the next try where a crash came between the two writes, and made once', async () => {
    const { bench, org, deployment } = await newOrganization();
    let runs = 0;
    const dying = Object.create(bench.runner) as typeof bench.runner;
    dying.run = ((...command: Parameters<typeof bench.runner.run>) => {
      runs += 1;
      if (runs > 1) return Promise.reject(new StoreUnavailable('killed'));
      return bench.runner.run(...command);
    }) as typeof bench.runner.run;
    await expect(ensureFirstPolicy({ ...deployment, runner: dying }, org, FIRST)).rejects.toThrow(StoreUnavailable);
    expect(await enforcedIn(bench, org)).toBeNull();
    const before = await bench.store.head();
    expect(await ensureFirstPolicy(deployment, org, FIRST)).toMatch(/^deed_/);
    expect(await enforcedIn(bench, org)).not.toBeNull();
    // The policy was there: its activation alone was written.
    expect(Number(await bench.store.head()) - Number(before)).toBe(1);
  });

  it('is left as it is by every other try, and stays away where an operator emptied the slot', async () => {
    const { bench, org, deployment } = await newOrganization();
    await ensureFirstPolicy(deployment, org, FIRST);
    const head = await bench.store.head();
    expect(await ensureFirstPolicy(deployment, org, FIRST)).toBeNull();
    expect(await bench.store.head()).toBe(head);
    const { policy } = (await enforcedIn(bench, org))!;
    const emptied = new DeactivatePolicy(org, policy, 'enforce', null, { ...bench.metadata(), org });
    await new DeactivatePolicyHandler(bench.streams, bench.runner).execute(emptied);
    await ensureFirstPolicy(deployment, org, FIRST);
    expect(await enforcedIn(bench, org)).toBeNull();
  });
});
