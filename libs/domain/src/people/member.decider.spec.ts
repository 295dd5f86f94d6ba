import { describe, expect, it } from 'vitest';
import { after, givenFor, NOW } from '../../../../test/support/given.js';
import { ORG } from '../../../../test/support/gate-fixtures.js';
import { OPERATOR, type Actor, type KeyId, type MembershipId, type UserId } from '../kernel/index.js';
import { MEMBERS_MAX } from './member.decider.js';
import { organizationDecider } from './organization.decider.js';
import type { OrganizationEvent } from './organization.events.js';
import type { LivingOrganization } from './organization.state.js';
import type { Role } from './role.js';

const given = givenFor(organizationDecider);
const user = (index: number) => `usr_${String(index).padStart(26, '0')}` as UserId;
const mem = (index: number) => `mem_${String(index).padStart(26, '0')}` as MembershipId;
const by = (index: number): Actor => ({ type: 'user', id: user(index) });
const KEY = 'key_00000000000000000000000001' as KeyId;
const ADMIN_KEY: Actor = { type: 'admin_key', id: KEY };
const WEEK_MS = 7 * 24 * 60 * 60 * 1000;

/** The owner is number 1. */
const created: OrganizationEvent = {
  type: 'OrganizationCreated',
  data: { org: ORG, name: 'Acme', timezone: 'UTC', owner: user(1), membership: mem(1), at: NOW },
};
const keyCreated: OrganizationEvent = {
  type: 'AdminKeyCreated',
  data: { org: ORG, record: { key: KEY, prefix: 'p', hash: 'ab', livemode: true }, at: NOW },
};
const keyRevoked: OrganizationEvent = { type: 'AdminKeyRevoked', data: { org: ORG, key: KEY, at: NOW } };

const invited = (
  index: number,
  role: Role = 'viewer',
  invitation = 'i1',
  inviter: Actor = by(1),
): OrganizationEvent => ({
  type: 'MemberInvited',
  data: {
    org: ORG,
    membership: mem(index),
    user: user(index),
    role,
    invitation,
    by: inviter,
    expires_at: after(WEEK_MS),
    at: NOW,
  },
});
const joined = (index: number, role: Role = 'viewer'): OrganizationEvent => ({
  type: 'MemberJoined',
  data: { org: ORG, membership: mem(index), user: user(index), role, at: NOW },
});
const removed = (index: number, role: Role = 'viewer', self = false): OrganizationEvent => ({
  type: 'MemberRemoved',
  data: { org: ORG, membership: mem(index), role, self, at: NOW },
});
const member = (index: number, role: Role): OrganizationEvent[] => [invited(index, role), joined(index, role)];

const invite = (index: number, role: Role = 'viewer', invitation = 'i1') =>
  ({
    type: 'InviteMember',
    data: { membership: mem(index), user: user(index), role, invitation, expiresAt: after(WEEK_MS) },
  }) as const;
const join = (index: number, invitation = 'i1') =>
  ({ type: 'JoinOrganization', data: { membership: mem(index), invitation } }) as const;
const changeRole = (index: number, role: Role) =>
  ({ type: 'ChangeMemberRole', data: { membership: mem(index), role } }) as const;
const remove = (index: number) => ({ type: 'RemoveMember', data: { membership: mem(index) } }) as const;

describe('an invitation', () => {
  it('is made by an owner, an admin, an admin key or an operator', () => {
    given(created).when(invite(2), NOW, by(1)).then(invited(2));
    given(created, ...member(3, 'admin'))
      .when(invite(2), NOW, by(3))
      .then(invited(2, 'viewer', 'i1', by(3)));
    given(created, keyCreated)
      .when(invite(2), NOW, ADMIN_KEY)
      .then(invited(2, 'viewer', 'i1', ADMIN_KEY));
    given(created)
      .when(invite(2, 'owner'))
      .then(invited(2, 'owner', 'i1', OPERATOR));
  });

  it('is made by nobody else', () => {
    given(created, ...member(3, 'viewer'))
      .when(invite(2), NOW, by(3))
      .thenRefuses('insufficient_role');
    given(created).when(invite(2), NOW, by(9)).thenRefuses('insufficient_role');
    given(created, keyCreated, keyRevoked).when(invite(2), NOW, ADMIN_KEY).thenRefuses('api_key_revoked');
  });

  it('as owner is an owner’s alone, also to make anew', () => {
    given(created, ...member(3, 'admin'))
      .when(invite(2, 'owner'), NOW, by(3))
      .thenRefuses('insufficient_role', 'role');
    given(created, ...member(3, 'admin'), invited(2, 'owner'))
      .when(invite(2, 'viewer', 'i2'), NOW, by(3))
      .thenRefuses('insufficient_role', 'role');
  });

  it('made again keeps the membership and voids the older link', () => {
    const again = { ...invite(2, 'admin', 'i2'), data: { ...invite(2, 'admin', 'i2').data, membership: mem(7) } };
    given(created, invited(2))
      .when(again, NOW, by(1))
      .then(invited(2, 'admin', 'i2'));
    given(created, invited(2), invited(2, 'admin', 'i2'))
      .when(join(2, 'i1'))
      .thenRefuses('login_link_invalid');
    given(created, invited(2), invited(2, 'admin', 'i2'))
      .when(join(2, 'i2'))
      .then(joined(2, 'admin'));
  });

  it('is refused for who is a member already, and beyond the limit', () => {
    given(created, ...member(2, 'viewer'))
      .when(invite(2), NOW, by(1))
      .thenRefuses('conflict', 'email');
    const full = Array.from({ length: MEMBERS_MAX - 1 }, (_, index) => invited(index + 2));
    given(created, ...full)
      .when(invite(900), NOW, by(1))
      .thenRefuses('conflict');
    given(created, ...full, removed(2))
      .when(invite(900), NOW, by(1))
      .then(invited(900));
  });

  it('of somebody who was removed makes a new membership: old sessions stay dead', () => {
    const back = { ...invite(2), data: { ...invite(2).data, membership: mem(7) } };
    const [event] = given(created, ...member(2, 'viewer'), removed(2))
      .when(back, NOW, by(1))
      .events();
    expect(event).toMatchObject({ type: 'MemberInvited', data: { membership: mem(7), user: user(2) } });
  });
});

describe('joining', () => {
  it('ends with the invitation’s time', () => {
    given(created, invited(2))
      .when(join(2), after(WEEK_MS - 1))
      .then({ ...joined(2), data: { ...joined(2).data, at: after(WEEK_MS - 1) } } as OrganizationEvent);
    given(created, invited(2)).when(join(2), after(WEEK_MS)).thenRefuses('login_link_invalid');
  });

  it('is possible once, and with the invitation of that membership alone', () => {
    given(created, ...member(2, 'viewer'))
      .when(join(2))
      .thenRefuses('login_link_invalid');
    given(created, invited(2)).when(join(2, 'other')).thenRefuses('login_link_invalid');
    given(created, invited(2)).when(join(3)).thenRefuses('login_link_invalid');
    given(created, invited(2), removed(2)).when(join(2)).thenRefuses('login_link_invalid');
  });

  it('needs an inviter who could still invite so', () => {
    const invitedByAdmin = [...member(3, 'admin'), invited(2, 'viewer', 'i1', by(3))];
    given(created, ...invitedByAdmin)
      .when(join(2))
      .then(joined(2));
    given(created, ...invitedByAdmin, removed(3, 'admin'))
      .when(join(2))
      .thenRefuses('login_link_invalid');
    given(created, keyCreated, invited(2, 'viewer', 'i1', ADMIN_KEY), keyRevoked)
      .when(join(2))
      .thenRefuses('login_link_invalid');
  });
});

describe('roles', () => {
  it('are changed by owners alone', () => {
    const three = [created, ...member(2, 'viewer'), ...member(3, 'admin'), keyCreated];
    given(...three)
      .when(changeRole(2, 'admin'), NOW, by(1))
      .then({
        type: 'MemberRoleChanged',
        data: { org: ORG, membership: mem(2), from: 'viewer', to: 'admin', at: NOW },
      });
    for (const actor of [by(3), by(2), ADMIN_KEY]) {
      given(...three)
        .when(changeRole(2, 'admin'), NOW, actor)
        .thenRefuses('insufficient_role');
    }
    given(...three)
      .when(changeRole(2, 'viewer'), NOW, by(1))
      .thenNothing();
    given(...three)
      .when(changeRole(8, 'viewer'), NOW, by(1))
      .thenRefuses('not_found');
  });

  it('of who has not joined, or left, are not changed', () => {
    given(created, invited(2)).when(changeRole(2, 'admin'), NOW, by(1)).thenRefuses('conflict');
    given(created, ...member(2, 'viewer'), removed(2))
      .when(changeRole(2, 'admin'), NOW, by(1))
      .thenRefuses('conflict');
  });
});

describe('removal', () => {
  it('of viewers and admins is an admin’s, of owners an owner’s', () => {
    const all = [created, ...member(2, 'viewer'), ...member(3, 'admin'), ...member(4, 'admin'), keyCreated];
    given(...all)
      .when(remove(2), NOW, by(3))
      .then(removed(2));
    given(...all)
      .when(remove(4), NOW, by(3))
      .then(removed(4, 'admin'));
    given(...all)
      .when(remove(4), NOW, ADMIN_KEY)
      .then(removed(4, 'admin'));
    given(...all)
      .when(remove(1), NOW, by(3))
      .thenRefuses('insufficient_role', 'role');
    given(...all)
      .when(remove(3), NOW, by(2))
      .thenRefuses('insufficient_role');
  });

  it('of oneself is leaving, in every role', () => {
    given(created, ...member(2, 'viewer'))
      .when(remove(2), NOW, by(2))
      .then(removed(2, 'viewer', true));
  });

  it('twice changes nothing, and ends an invitation', () => {
    given(created, ...member(2, 'viewer'), removed(2))
      .when(remove(2), NOW, by(1))
      .thenNothing();
    given(created, invited(2)).when(remove(2), NOW, by(1)).then(removed(2));
  });
});

describe('the last active owner', () => {
  it('is neither removed nor demoted', () => {
    given(created).when(remove(1), NOW, by(1)).thenRefuses('last_owner');
    given(created, invited(2, 'owner')).when(changeRole(1, 'admin'), NOW, by(1)).thenRefuses('last_owner');
  });

  it('with a second one may go, and the second then may not', () => {
    const two = [created, ...member(2, 'owner')];
    given(...two)
      .when(remove(1), NOW, by(2))
      .then(removed(1, 'owner'));
    given(...two, removed(1, 'owner'))
      .when(remove(2), NOW, by(2))
      .thenRefuses('last_owner');
  });

  it('is told of by two owners who demote each other: the second is an owner no more, and the first the last one (rule PEOPLE-3)', () => {
    const demoted: OrganizationEvent = {
      type: 'MemberRoleChanged',
      data: { org: ORG, membership: mem(2), from: 'owner', to: 'admin', at: NOW },
    };
    const one = [created, ...member(2, 'owner'), demoted];
    given(...one)
      .when(changeRole(1, 'admin'), NOW, by(2))
      .thenRefuses('last_owner');
    // What leaves an owner is judged by role as ever.
    given(...one)
      .when(changeRole(2, 'owner'), NOW, by(2))
      .thenRefuses('insufficient_role');
  });

  it('stays in the state whatever an event says: the second layer', () => {
    const ownerOf = (state: unknown) => (state as LivingOrganization).members.get(mem(1));
    expect(ownerOf(given(created, removed(1, 'owner')).state)).toMatchObject({ status: 'active', role: 'owner' });
    const demoted: OrganizationEvent = {
      type: 'MemberRoleChanged',
      data: { org: ORG, membership: mem(1), from: 'owner', to: 'viewer', at: NOW },
    };
    expect(ownerOf(given(created, demoted).state)).toMatchObject({ role: 'owner' });
  });
});

describe('settings of the organization', () => {
  const update = (data: object) => ({ type: 'UpdateOrganization', data }) as const;

  it('name and time zone are an admin’s, the others an owner’s', () => {
    const all = [created, ...member(3, 'admin'), keyCreated];
    given(...all)
      .when(update({ name: 'Acme EU', timezone: 'Europe/Vienna' }), NOW, by(3))
      .then({
        type: 'OrganizationUpdated',
        data: { org: ORG, fields: ['name', 'timezone'], name: 'Acme EU', timezone: 'Europe/Vienna', at: NOW },
      });
    given(...all)
      .when(update({ retentionDays: 30 }), NOW, by(3))
      .thenRefuses('insufficient_role', 'retention_days');
    given(...all)
      .when(update({ approvals: { mail: 'off' } }), NOW, ADMIN_KEY)
      .thenRefuses('insufficient_role', 'approvals');
    given(...all)
      .when(update({ pinnedVersion: '2026-10-01' }), NOW, by(3))
      .thenRefuses('insufficient_role', 'pinned_version');
    given(...all)
      .when(update({ name: 'Acme' }), NOW, by(3))
      .thenNothing();
  });

  it('approvals are recorded whole', () => {
    given(created)
      .when(update({ approvals: { chat: 'decide' }, retentionDays: null }), NOW, by(1))
      .then({
        type: 'OrganizationUpdated',
        data: {
          org: ORG,
          fields: ['approvals'],
          timezone: 'UTC',
          approvals: { mail: 'decide', chat: 'decide', expires_in_s: 86_400 },
          at: NOW,
        },
      });
  });
});

describe('what keys and roles may do to the organization', () => {
  const record = { key: 'key_00000000000000000000000009' as KeyId, prefix: 'p9', hash: 'ab', livemode: true };

  it('an admin key makes and rolls no admin keys', () => {
    given(created, keyCreated)
      .when({ type: 'CreateAdminKey', data: { record } }, NOW, ADMIN_KEY)
      .thenRefuses('insufficient_scope');
    given(created, keyCreated)
      .when({ type: 'RollAdminKey', data: { key: KEY, successor: record, expiresAt: after(1) } }, NOW, ADMIN_KEY)
      .thenRefuses('insufficient_scope');
  });

  it('an admin stops all agents, an owner alone starts them', () => {
    const stopped: OrganizationEvent = {
      type: 'OrganizationStopped',
      data: { org: ORG, reason: null, by: by(3), at: NOW },
    };
    const all = [created, ...member(3, 'admin')];
    given(...all)
      .when({ type: 'StopOrganization', data: { reason: null } }, NOW, by(3))
      .then(stopped);
    given(...all, stopped)
      .when({ type: 'StartOrganization', data: { reason: null } }, NOW, by(3))
      .thenRefuses('insufficient_role');
    expect(
      given(...all, stopped)
        .when({ type: 'StartOrganization', data: { reason: null } }, NOW, by(1))
        .events(),
    ).toHaveLength(1);
  });
});
