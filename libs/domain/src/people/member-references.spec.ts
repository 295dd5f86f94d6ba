import { describe, it, expect } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import type { Actor, MembershipId, UserId } from '../kernel/index.js';
import { organizationDecider } from './organization.decider.js';
import type { OrganizationEvent } from './organization.events.js';
import type { LivingOrganization } from './organization.state.js';
import type { Role } from './role.js';

const given = givenFor(organizationDecider);
const user = (index: number) => `usr_${String(index).padStart(26, '0')}` as UserId;
const mem = (index: number) => `mem_${String(index).padStart(26, '0')}` as MembershipId;
const by = (index: number): Actor => ({ type: 'user', id: user(index) });
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** The owner is number 1. */
const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { org: ORG, name: 'Acme', timezone: 'UTC', owner: user(1), membership: mem(1), at: NOW },
};
/** @param person whom the membership is of, where it is not the one of its number */
const invited = (index: number, role: Role = 'viewer', person = index): OrganizationEvent => ({
  type: 'MemberInvited',
  data: {
    org: ORG,
    membership: mem(index),
    user: user(person),
    role,
    invitation: 'i1',
    by: by(1),
    expires_at: after(WEEK_MS),
    at: NOW,
  },
});
const joined = (index: number, role: Role = 'viewer', person = index): OrganizationEvent => ({
  type: 'MemberJoined',
  data: { org: ORG, membership: mem(index), user: user(person), role, at: NOW },
});
const removed = (index: number): OrganizationEvent => ({
  type: 'MemberRemoved',
  data: { org: ORG, membership: mem(index), role: 'viewer', self: false, at: NOW },
});
const member = (index: number, role: Role): OrganizationEvent[] => [invited(index, role), joined(index, role)];

describe('references and chat accounts', () => {
  const change = (index: number, references?: readonly string[], chatAccounts?: readonly string[]) =>
    ({
      type: 'ChangeMemberReferences',
      data: {
        membership: mem(index),
        ...(references === undefined ? {} : { references }),
        ...(chatAccounts === undefined ? {} : { chatAccounts }),
      },
    }) as const;
  const changed = (index: number, references: readonly string[], chat: readonly string[]): OrganizationEvent => ({
    type: 'MemberReferencesChanged',
    data: { org: ORG, membership: mem(index), references, chat_accounts: chat, at: NOW },
  });

  it('are set by an owner, each by itself', () => {
    given(created)
      .when(change(1, ['u-1']), NOW, by(1))
      .then(changed(1, ['u-1'], []));
    given(created, changed(1, ['u-1'], []))
      .when(change(1, undefined, ['slack:U1']), NOW, by(1))
      .then(changed(1, ['u-1'], ['slack:U1']));
    given(created, changed(1, ['u-1'], []))
      .when(change(1, ['u-1']), NOW, by(1))
      .thenNothing();
    given(created, ...member(2, 'admin'))
      .when(change(1, ['u-1']), NOW, by(2))
      .thenRefuses('insufficient_role');
  });

  it('mean one member each', () => {
    const two = [created, ...member(2, 'viewer'), changed(1, ['u-1'], ['slack:U1'])];
    given(...two)
      .when(change(2, ['u-1']), NOW, by(1))
      .thenRefuses('conflict', 'references');
    given(...two)
      .when(change(2, [], ['slack:U1']), NOW, by(1))
      .thenRefuses('conflict', 'chat_accounts');
  });

  describe('of who was removed and is invited again', () => {
    const again = (index: number, person: number) => invited(index, 'viewer', person);
    const of = (index: number, ...events: readonly OrganizationEvent[]) =>
      (given(created, ...events).state as LivingOrganization).members.get(mem(index));
    const left = [...member(2, 'viewer'), changed(2, ['u-2', 'u-22'], ['slack:U2']), removed(2)];

    it('are the same references and no chat accounts, whatever became of invitations between', () => {
      expect(of(3, ...left, again(3, 2))).toMatchObject({ references: ['u-2', 'u-22'], chatAccounts: [] });
      const twice = [...left, again(3, 2), removed(3), again(4, 2), joined(4, 'viewer', 2)];
      expect(of(4, ...twice)).toMatchObject({ status: 'active', references: ['u-2', 'u-22'], chatAccounts: [] });
    });

    it('are nobody else’s, and none that was taken away or means another member by now', () => {
      expect(of(3, ...left, invited(3))).toMatchObject({ references: [] });
      const taken = [...member(5, 'viewer'), changed(5, ['u-2'], [])];
      expect(of(3, ...left, ...taken, again(3, 2))).toMatchObject({ references: ['u-22'] });
      const emptied = [...left.slice(0, -1), changed(2, [], []), removed(2)];
      expect(of(3, ...emptied, again(3, 2))).toMatchObject({ references: [] });
    });

    it('can be set though an older log gave one of them to another member after the invitation', () => {
      const older = [...left, again(3, 2), ...member(5, 'viewer'), changed(5, ['u-2'], [])];
      given(created, ...older)
        .when(change(3, undefined, ['slack:U3']), NOW, by(1))
        .then(changed(3, ['u-2', 'u-22'], ['slack:U3']));
      given(created, ...older)
        .when(change(3, ['u-22']), NOW, by(1))
        .then(changed(3, ['u-22'], []));
    });
  });
});
