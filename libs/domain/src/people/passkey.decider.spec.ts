import { describe, expect, it } from 'vitest';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import {
  OPERATOR,
  type Actor,
  type EventEnvelope,
  type MembershipId,
  type PasskeyId,
  type UserId,
} from '../kernel/index.js';
import { adminActOf } from '../ledger/index.js';
import { organizationDecider } from './organization.decider.js';
import type { OrganizationEvent } from './organization.events.js';
import { PASSKEYS_MAX, passkeysOf } from './passkey.decider.js';
import type { LivingOrganization } from './organization.state.js';

const given = givenFor(organizationDecider);
const id = <Id>(prefix: string, index: number) => `${prefix}_${String(index).padStart(26, '0')}` as Id;
const user = (index: number) => id<UserId>('usr', index);
const mem = (index: number) => id<MembershipId>('mem', index);
const pky = (index: number) => id<PasskeyId>('pky', index);
const by = (index: number): Actor => ({ type: 'user', id: user(index) });

const [OWNER, VIEWER] = [1, 2];
const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { org: ORG, name: 'Acme', timezone: 'UTC', owner: user(OWNER), membership: mem(OWNER), at: NOW },
};
const invitedAs = (index: number, membership: MembershipId): OrganizationEvent => ({
  type: 'MemberInvited',
  data: {
    ...{ org: ORG, membership, user: user(index), role: 'viewer', invitation: 'i1' },
    ...{ by: by(OWNER), expires_at: after(60_000), at: NOW },
  },
});
const joinedAs = (index: number, membership: MembershipId): OrganizationEvent => ({
  type: 'MemberJoined',
  data: { org: ORG, membership, user: user(index), role: 'viewer', at: NOW },
});
const members = [created, invitedAs(VIEWER, mem(VIEWER)), joinedAs(VIEWER, mem(VIEWER))];

const of = (index: number, person = VIEWER) => ({
  org: ORG,
  passkey: pky(index),
  membership: mem(person),
  user: user(person),
  credential: `cred${index}`,
});
const registered = (index: number, person = VIEWER): OrganizationEvent => ({
  type: 'PasskeyRegistered',
  data: { ...of(index, person), alg: -8, public_key: `key${index}`, rp_id: 'ags.example.com', at: NOW },
});
const removed = (index: number, person = VIEWER): OrganizationEvent => ({
  type: 'PasskeyRemoved',
  data: { ...of(index, person), at: NOW },
});
const register = (index: number) =>
  ({
    type: 'RegisterPasskey',
    data: {
      passkey: pky(index),
      credential: `cred${index}`,
      alg: -8,
      publicKey: `key${index}`,
      rpId: 'ags.example.com',
    },
  }) as const;
const remove = (index: number) => ({ type: 'RemovePasskey', data: { passkey: pky(index) } }) as const;
const removeMember = { type: 'RemoveMember', data: { membership: mem(VIEWER) } } as const;
const stateOf = (...events: OrganizationEvent[]) =>
  events.reduce(organizationDecider.evolve, organizationDecider.initialState()) as LivingOrganization;

describe('a passkey', () => {
  it('is registered by a member of any role, for that member', () => {
    given(...members)
      .when(register(1), NOW, by(VIEWER))
      .then(registered(1));
    given(...members)
      .when(register(1), NOW, by(OWNER))
      .then(registered(1, OWNER));
  });

  it.each<readonly [string, Actor]>([
    ['an operator', OPERATOR],
    ['an admin key', { type: 'admin_key', id: 'key_1' }],
    ['an agent', { type: 'agent', id: 'agt_1' }],
    ['a stranger', by(9)],
  ])('is registered by nobody else: not by %s', (_who, actor) => {
    given(...members)
      .when(register(1), NOW, actor)
      .thenRefuses('insufficient_role');
  });

  it('is not registered by who was invited and has not joined, nor by who was removed', () => {
    const invited = [created, invitedAs(VIEWER, mem(VIEWER))];
    given(...invited)
      .when(register(1), NOW, by(VIEWER))
      .thenRefuses('insufficient_role');
    const gone: OrganizationEvent = {
      type: 'MemberRemoved',
      data: { org: ORG, membership: mem(VIEWER), role: 'viewer', self: false, at: NOW },
    };
    given(...members, gone)
      .when(register(1), NOW, by(VIEWER))
      .thenRefuses('insufficient_role');
  });

  it('is registered once, whoever has it', () => {
    given(...members, registered(1))
      .when(register(1), NOW, by(VIEWER))
      .thenRefuses('conflict', 'credential');
    given(...members, registered(1))
      .when(register(1), NOW, by(OWNER))
      .thenRefuses('conflict', 'credential');
  });

  it('is one of ten at most of a member, removed ones not counted, others’ neither', () => {
    const ten = Array.from({ length: PASSKEYS_MAX }, (_, index) => registered(index + 1));
    given(...members, ...ten)
      .when(register(11), NOW, by(VIEWER))
      .thenRefuses('conflict');
    given(...members, ...ten)
      .when(register(11), NOW, by(OWNER))
      .then(registered(11, OWNER));
    given(...members, ...ten, removed(3))
      .when(register(11), NOW, by(VIEWER))
      .then(registered(11));
  });

  it('is removed by the member whose it is, and by nobody else', () => {
    given(...members, registered(1))
      .when(remove(1), NOW, by(VIEWER))
      .then(removed(1));
    given(...members, registered(1))
      .when(remove(1), NOW, by(OWNER))
      .thenRefuses('not_found');
    given(...members, registered(1), removed(1))
      .when(remove(1), NOW, by(VIEWER))
      .thenRefuses('not_found');
    given(...members, registered(1))
      .when(remove(1), NOW, OPERATOR)
      .thenRefuses('insufficient_role');
  });

  it('may be registered again once it was removed', () => {
    given(...members, registered(1), removed(1))
      .when(register(1), NOW, by(VIEWER))
      .then(registered(1));
  });
});

describe('the end of a membership', () => {
  const gone = (self: boolean): OrganizationEvent => ({
    type: 'MemberRemoved',
    data: { org: ORG, membership: mem(VIEWER), role: 'viewer', self, at: NOW },
  });

  it('is the end of its passkeys, each by an event of its own in the same append', () => {
    const passkeys = [registered(1), registered(2, OWNER), registered(3)];
    given(...members, ...passkeys)
      .when(removeMember, NOW, by(OWNER))
      .then(gone(false), removed(1), removed(3));
    given(...members, ...passkeys)
      .when(removeMember, NOW, by(VIEWER))
      .then(gone(true), removed(1), removed(3));
  });

  it('leaves none to who is invited again', () => {
    const again = [invitedAs(VIEWER, mem(8)), joinedAs(VIEWER, mem(8))];
    const state = stateOf(...members, registered(1), gone(false), removed(1), ...again);
    expect(passkeysOf(state.passkeys, mem(8))).toEqual([]);
    expect(state.passkeys.size).toBe(0);
  });
});

describe('another address', () => {
  it('ends the passkeys of the person: whoever read the old mailbox may have made one', () => {
    const set = { type: 'SetMemberAddress', data: { membership: mem(VIEWER) } } as const;
    const addressSet: OrganizationEvent = {
      type: 'MemberAddressSet',
      data: { org: ORG, membership: mem(VIEWER), user: user(VIEWER), at: NOW },
    };
    given(...members, registered(1), registered(2, OWNER))
      .when(set, NOW, OPERATOR)
      .then(addressSet, removed(1));
  });
});

describe('the deed of a passkey', () => {
  const actOf = (event: OrganizationEvent) => adminActOf({ event } as EventEnvelope);

  it('says all that a reader needs to check a signature: whose it is, which, how it signs, by which key, for which site', () => {
    expect(actOf(registered(1))).toEqual({
      action: 'passkey.registered',
      target: { type: 'passkey', id: pky(1) },
      reason: null,
      data: { alg: -8, credential: 'cred1', public_key: 'key1', rp_id: 'ags.example.com', user: user(VIEWER) },
    });
  });

  it('says of its end whose and which it was', () => {
    expect(actOf(removed(1))).toEqual({
      action: 'passkey.removed',
      target: { type: 'passkey', id: pky(1) },
      reason: null,
      data: { credential: 'cred1', user: user(VIEWER) },
    });
  });
});
