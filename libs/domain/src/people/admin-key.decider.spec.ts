import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { OPERATOR, type Actor, type KeyId, type MembershipId, type UserId } from '../kernel/index.js';
import { adminActOf } from '../ledger/index.js';
import type { EventEnvelope } from '../kernel/index.js';
import { organizationDecider } from './organization.decider.js';
import type { OrganizationEvent } from './organization.events.js';
import type { LivingOrganization } from './organization.state.js';
import type { Role } from './role.js';

const given = givenFor(organizationDecider);
const user = (index: number) => `usr_${String(index).padStart(26, '0')}` as UserId;
const mem = (index: number) => `mem_${String(index).padStart(26, '0')}` as MembershipId;
const keyId = (index: number) => `key_${String(index).padStart(26, '0')}` as KeyId;
const by = (index: number): Actor => ({ type: 'user', id: user(index) });
const recordOf = (index: number) => ({ key: keyId(index), prefix: `p${index}`, hash: 'ab', livemode: true });

const [OWNER, ADMIN] = [1, 2];
const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { org: ORG, name: 'Acme', timezone: 'UTC', owner: user(OWNER), membership: mem(OWNER), at: NOW },
};
const member = (index: number, role: Role): OrganizationEvent[] => {
  const of = { org: ORG, membership: mem(index), user: user(index), role, at: NOW };
  return [
    { type: 'MemberInvited', data: { ...of, invitation: 'i1', by: by(OWNER), expires_at: after(60_000) } },
    { type: 'MemberJoined', data: of },
  ];
};
const keyCreated = (index: number, more: { readonly by?: Actor; readonly expires_at?: string }): OrganizationEvent => ({
  type: 'AdminKeyCreated',
  data: { org: ORG, record: recordOf(index), ...more, at: NOW },
});
const revoked = (index: number): OrganizationEvent => ({
  type: 'AdminKeyRevoked',
  data: { org: ORG, key: keyId(index), at: NOW },
});
const removed = (more: object = {}): OrganizationEvent => ({
  type: 'MemberRemoved',
  data: { org: ORG, membership: mem(ADMIN), role: 'admin', self: false, ...more, at: NOW },
});
const remove = (...keepKeys: KeyId[]) =>
  ({ type: 'RemoveMember', data: { membership: mem(ADMIN), keepKeys } }) as const;
const changeRole = (role: Role, ...keepKeys: KeyId[]) =>
  ({ type: 'ChangeMemberRole', data: { membership: mem(ADMIN), role, keepKeys } }) as const;
const stateOf = (...events: OrganizationEvent[]) =>
  events.reduce(organizationDecider.evolve, organizationDecider.initialState()) as LivingOrganization;

/** Keys 3 and 4 are the admin's, 5 the owner's, 6 the operator's; of 7 nobody has recorded whose it is. */
const staffed = [
  created,
  ...member(ADMIN, 'admin'),
  keyCreated(3, { by: by(ADMIN) }),
  keyCreated(4, { by: by(ADMIN) }),
  keyCreated(5, { by: by(OWNER) }),
  keyCreated(6, { by: OPERATOR }),
  keyCreated(7, {}),
];

describe('the admin keys of a person who goes', () => {
  it('end in the append that removes the person, each as a revocation of its own', () =>
    given(...staffed)
      .when(remove(), NOW, by(OWNER))
      .then(removed(), revoked(3), revoked(4)));

  it('stay where somebody wants them kept, and the removal says which', () =>
    given(...staffed)
      .when(remove(keyId(4)), NOW, by(OWNER))
      .then(removed({ kept_keys: [keyId(4)] }), revoked(3)));

  it('end when the person leaves', () =>
    given(...staffed)
      .when(remove(), NOW, by(ADMIN))
      .then(removed({ self: true }), revoked(3), revoked(4)));

  it('end with a role below admin, and with no other', () => {
    const changed = (to: Role): OrganizationEvent => ({
      type: 'MemberRoleChanged',
      data: { org: ORG, membership: mem(ADMIN), from: 'admin', to, at: NOW },
    });
    given(...staffed)
      .when(changeRole('viewer'), NOW, by(OWNER))
      .then(changed('viewer'), revoked(3), revoked(4));
    given(...staffed)
      .when(changeRole('owner'), NOW, by(OWNER))
      .then(changed('owner'));
  });

  it('are not revoked again where they were before, or have ended', () =>
    given(created, ...member(ADMIN, 'admin'), keyCreated(3, { by: by(ADMIN), expires_at: after(1) }), revoked(3))
      .when(remove(), NOW, by(OWNER))
      .then(removed()));

  it('are of who was shown the secret last: a key that another person rolled is that person’s', () => {
    const rolled: OrganizationEvent = {
      type: 'AdminKeyRolled',
      data: { org: ORG, key: keyId(3), successor: recordOf(8), expires_at: after(60_000), by: by(OWNER), at: NOW },
    };
    given(...staffed, rolled)
      .when(remove(), NOW, by(OWNER))
      .then(removed(), revoked(3), revoked(4));
  });

  it('are kept by name alone: another’s key changes nothing', () => {
    for (const wrong of [5, 6, 7, 9]) {
      given(...staffed)
        .when(remove(keyId(3), keyId(wrong)), NOW, by(OWNER))
        .thenRefuses('validation_failed', 'keep_keys');
    }
  });

  it('are kept by who might make one: a viewer who leaves keeps none', () => {
    const viewer = [
      ...staffed,
      ...given(...staffed)
        .when(changeRole('viewer', keyId(3)), NOW, by(OWNER))
        .events(),
    ];
    given(...viewer)
      .when(remove(keyId(3)), NOW, by(ADMIN))
      .thenRefuses('insufficient_role', 'keep_keys');
    given(...viewer)
      .when(remove(), NOW, by(ADMIN))
      .then(removed({ role: 'viewer', self: true }), revoked(3));
  });
});

describe('an admin key', () => {
  it('knows who made it, where its event tells', () => {
    const { adminKeys } = stateOf(...staffed);
    expect([3, 6, 7].map((index) => adminKeys.get(keyId(index))?.createdBy)).toEqual([by(ADMIN), OPERATOR, null]);
    const create = { type: 'CreateAdminKey', data: { record: recordOf(8) } } as const;
    given(created)
      .when(create, NOW, by(OWNER))
      .then(keyCreated(8, { by: by(OWNER) }));
  });

  it('may have an end, which is to come', () => {
    const create = (expiresAt: string) =>
      ({ type: 'CreateAdminKey', data: { record: recordOf(8), expiresAt } }) as const;
    given(created)
      .when(create(after(1)), NOW, by(OWNER))
      .then(keyCreated(8, { by: by(OWNER), expires_at: after(1) }));
    given(created).when(create(NOW), NOW, by(OWNER)).thenRefuses('validation_failed', 'expires_at');
  });

  it('hands its end to the key that it is rolled to, and works no longer by the overlap', () => {
    const ending = [created, keyCreated(3, { by: by(OWNER), expires_at: after(60_000) })];
    const roll = (overlapMs: number) =>
      ({ type: 'RollAdminKey', data: { key: keyId(3), successor: recordOf(4), expiresAt: after(overlapMs) } }) as const;
    for (const [overlapMs, endsAfterMs] of [
      [1_000, 1_000],
      [90_000, 60_000],
    ] as const) {
      const events = given(...ending)
        .when(roll(overlapMs), NOW, by(OWNER))
        .events() as OrganizationEvent[];
      const { adminKeys } = stateOf(...ending, ...events);
      expect(adminKeys.get(keyId(3))).toMatchObject({ expiresAt: after(endsAfterMs), successor: keyId(4) });
      expect(adminKeys.get(keyId(4))).toMatchObject({ expiresAt: after(60_000), successor: null });
      given(...ending, ...events)
        .when(roll(1_000), NOW, by(OWNER))
        .thenRefuses('conflict');
    }
  });

  it('is in deeds as ever: what an older event does not say, its deed does not', () => {
    const actOf = (event: OrganizationEvent) => adminActOf({ event } as EventEnvelope)?.data;
    expect(actOf(keyCreated(7, {}))).toEqual({ livemode: true, prefix: 'p7' });
    expect(actOf(removed())).toEqual({ role: 'admin', self: false });
    expect(actOf(removed({ kept_keys: [keyId(3)] }))).toEqual({ kept_keys: [keyId(3)], role: 'admin', self: false });
  });
});
