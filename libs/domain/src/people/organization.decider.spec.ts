import { describe, expect, it } from 'vitest';
import { givenFor, NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import {
  OPERATOR,
  type KeyId,
  type MembershipId,
  type PolicyId,
  type PolicyVersionId,
  type UserId,
} from '../kernel/index.js';
import { organizationDecider } from './organization.decider.js';
import type { OrganizationEvent, PolicyMode } from './organization.events.js';

const given = givenFor(organizationDecider);
const described = {
  org: ORG,
  name: 'Acme',
  timezone: 'UTC',
  owner: 'usr_00000000000000000000000001' as UserId,
  membership: 'mem_00000000000000000000000001' as MembershipId,
};
const created: OrganizationEvent = { type: 'OrganizationCreated', data: { ...described, at: NOW } };
const stopped: OrganizationEvent = {
  type: 'OrganizationStopped',
  data: { org: ORG, reason: null, by: OPERATOR, at: NOW },
};
const policy = 'pol_00000000000000000000000001' as PolicyId;
const version = (index: number) => `pv_0000000000000000000000000${index}` as PolicyVersionId;

const activate = (index: number, mode: PolicyMode = 'enforce') =>
  ({
    type: 'ActivatePolicy',
    data: { mode, policy, versionId: version(index), version: index, versionHash: 'sha256:x', reason: null },
  }) as const;

const activated = (index: number, mode: PolicyMode = 'enforce', replaced: number | null = null): OrganizationEvent => ({
  type: 'PolicyActivated',
  data: {
    org: ORG,
    mode,
    policy,
    version_id: version(index),
    version: index,
    version_hash: 'sha256:x',
    reason: null,
    replaced: replaced === null ? null : version(replaced),
    by: OPERATOR,
    at: NOW,
  },
});

describe('an organization', () => {
  it('is created once, with its owner', () => {
    given().when({ type: 'CreateOrganization', data: described }).then(created);
    given(created).when({ type: 'CreateOrganization', data: described }).thenRefuses('conflict');
  });

  it('is stopped and started as a whole', () => {
    given(created)
      .when({ type: 'StopOrganization', data: { reason: null } })
      .then(stopped);
    given(created, stopped)
      .when({ type: 'StopOrganization', data: { reason: null } })
      .thenNothing();
    expect(
      given(created, stopped)
        .when({ type: 'StartOrganization', data: { reason: null } })
        .events(),
    ).toHaveLength(1);
    given(created)
      .when({ type: 'StartOrganization', data: { reason: null } })
      .thenNothing();
  });

  it('has admin keys of its own, at most ten', () => {
    const record = (index: number) => ({
      key: `key_0000000000000000000000000${index}` as KeyId,
      prefix: `p${index}`,
      hash: 'ab',
      livemode: true,
    });
    const keys = Array.from({ length: 10 }, (_, index): OrganizationEvent => ({
      type: 'AdminKeyCreated',
      data: { org: ORG, record: record(index), at: NOW },
    }));
    const create = { type: 'CreateAdminKey', data: { record: { ...record(1), key: 'key_9' as KeyId } } } as const;
    expect(
      given(created, ...keys.slice(1))
        .when(create)
        .events(),
    ).toHaveLength(1);
    given(created, ...keys)
      .when(create)
      .thenRefuses('conflict');
  });
});

describe('the enforced slot', () => {
  it('holds one version; another takes its place and names it', () => {
    given(created).when(activate(1)).then(activated(1));
    given(created, activated(1))
      .when(activate(2))
      .then(activated(2, 'enforce', 1));
  });

  it('does not change for the version it holds', () => given(created, activated(1)).when(activate(1)).thenNothing());

  it('tells since when it holds it, and who put it there where the event tells', () => {
    const state = (...events: OrganizationEvent[]) =>
      events.reduce(organizationDecider.evolve, organizationDecider.initialState());
    expect(state(created, activated(1))).toMatchObject({ enforced: { since: NOW, by: OPERATOR } });
    const { by, ...before } = (activated(1) as Extract<OrganizationEvent, { type: 'PolicyActivated' }>).data;
    expect(by).toBe(OPERATOR);
    expect(state(created, { type: 'PolicyActivated', data: before })).toMatchObject({ enforced: { by: null } });
  });

  it('is emptied only by the policy that holds it', () => {
    const deactivate = { type: 'DeactivatePolicy', data: { mode: 'enforce', policy, reason: null } } as const;
    expect(given(created, activated(1)).when(deactivate).events()).toHaveLength(1);
    given(created).when(deactivate).thenRefuses('conflict', 'mode');
  });

  it('one version runs in shadow at a time, and promoting it ends its shadow', () => {
    given(created, activated(1, 'shadow')).when(activate(2, 'shadow')).thenRefuses('shadow_slot_taken', 'mode');
    const events = given(created, activated(1, 'shadow')).when(activate(1)).events();
    expect(events.map(({ type }) => type)).toEqual(['PolicyDeactivated', 'PolicyActivated']);
  });
});
