import { DomainError, type KeyId, type MembershipId, type Timestamp, type UserId } from '../kernel/index.js';
import { ADMIN_KEY_ROLE, requireRole, roleOf } from './actor-rights.js';
import { endKeysOf, type AdminKeyEvent, type EndOfKeys } from './admin-key.decider.js';
import { isStillVouchedFor } from './key-ring.js';
import type { MemberCommand } from './member.commands.js';
import type { MemberEvent } from './member.events.js';
import {
  activeMembershipOf,
  hasActiveOwner,
  mayManage,
  membershipOf,
  withMembership,
  type Membership,
  type Memberships,
} from './membership.js';
import type { LivingOrganization } from './organization.state.js';
import { endPasskeysOf } from './passkey.decider.js';
import type { PasskeyEvent } from './passkey.events.js';
import { isAtLeast, type Role } from './role.js';

/** Invited and active ones: a list of them is answered from the folded stream, on one page after another. */
export const MEMBERS_MAX = 500;

type Of<Type extends MemberCommand['type']> = Extract<MemberCommand, { type: Type }>;

/** Of an organization that exists. @throws {DomainError} */
export const decideMember = (
  command: MemberCommand,
  state: LivingOrganization,
): readonly (MemberEvent | AdminKeyEvent | PasskeyEvent)[] => {
  switch (command.type) {
    case 'InviteMember':
      return invite(command, state);
    case 'JoinOrganization':
      return join(command, state);
    case 'ChangeMemberRole':
      return changeRole(command, state);
    case 'RemoveMember':
      return remove(command, state);
    case 'ChangeMemberReferences':
      return changeReferences(command, state);
    case 'SetMemberAddress': {
      const { metadata } = command;
      requireRole(state, metadata.actor, 'owner', metadata.now);
      const { membership, user } = found(state, command.data.membership);
      const set = { org: state.org, membership, user, at: metadata.now };
      // Whoever read the old mailbox may have registered one, and would come in by it.
      return [{ type: 'MemberAddressSet', data: set }, ...endPasskeysOf(state, membership, metadata.now)];
    }
    case 'IssueLoginLink': {
      const { metadata, data } = command;
      requireRole(state, metadata.actor, 'owner', metadata.now);
      if (!activeMembershipOf(state.members, data.user)) throw new DomainError('not_found');
      const issued = {
        org: state.org,
        user: data.user,
        purpose: 'sign_in',
        via: 'operator',
        at: metadata.now,
      } as const;
      return [{ type: 'LoginLinkIssued', data: issued }];
    }
  }
};

const invite = ({ data, metadata }: Of<'InviteMember'>, state: LivingOrganization): readonly MemberEvent[] => {
  const { user, role, invitation, expiresAt } = data;
  const { actor, now: at } = metadata;
  const known = membershipOf(state.members, user);
  const inviter = requireRole(state, actor, 'admin', at);
  requireManageable(inviter, role);
  if (known?.status === 'active') {
    throw new DomainError('conflict', {
      param: 'email',
      message: 'This person is a member already. An owner may change the role with PATCH /v1/org/members/{id}.',
    });
  }
  // An invitation as owner is an owner's to change, also by inviting anew.
  if (known) requireManageable(inviter, known.role);
  else requireRoomForMember(state.members);
  const membership = known?.membership ?? data.membership;
  const by = { ...actor };
  return [
    {
      type: 'MemberInvited',
      data: { org: state.org, membership, user, role, invitation, by, expires_at: expiresAt, at },
    },
  ];
};

const requireRoomForMember = (members: Memberships): void => {
  const count = [...members.values()].filter(({ status }) => status !== 'removed').length;
  if (count < MEMBERS_MAX) return;
  throw new DomainError('conflict', {
    message: `An organization has at most ${MEMBERS_MAX} members, invited ones included. Remove one first.`,
  });
};

const requireManageable = (manager: Role, managed: Role): void => {
  if (mayManage(manager, managed)) return;
  throw new DomainError('insufficient_role', {
    param: 'role',
    message: 'Only an owner may invite, change or remove an owner. Ask one; GET /v1/org/members lists them.',
  });
};

/** Whatever is wrong with a link is the same miss: it tells a stranger nothing (rule PEOPLE-5). */
const join = ({ data, metadata }: Of<'JoinOrganization'>, state: LivingOrganization): readonly MemberEvent[] => {
  const { now: at } = metadata;
  const member = state.members.get(data.membership);
  const isOpen =
    member?.status === 'invited' &&
    member.invitation === data.invitation &&
    member.invitationExpiresAt !== null &&
    at < member.invitationExpiresAt &&
    mayStillInvite(state, member, at);
  if (!isOpen) throw new DomainError('login_link_invalid');
  const { membership, user, role } = member;
  return [{ type: 'MemberJoined', data: { org: state.org, membership, user, role, at } }];
};

/** An invitation holds for as long as whoever made it could make it again; a key that was rolled, by its successor. */
const mayStillInvite = (state: LivingOrganization, { invitedBy, role }: Membership, at: Timestamp): boolean => {
  if (invitedBy === null) return false;
  if (invitedBy.type === 'admin_key') {
    return mayManage(ADMIN_KEY_ROLE, role) && isStillVouchedFor(state.adminKeys, invitedBy.id as KeyId, at);
  }
  try {
    return mayManage(roleOf(state, invitedBy, at), role);
  } catch (error) {
    if (error instanceof DomainError) return false;
    throw error;
  }
};

const changeRole = (
  { data, metadata }: Of<'ChangeMemberRole'>,
  state: LivingOrganization,
): readonly (MemberEvent | AdminKeyEvent)[] => {
  const { actor, now: at } = metadata;
  const target = state.members.get(data.membership);
  // Before the role: of two owners who demote each other the second was let in as an owner, and what holds it up now is that
  // the organization would have none.
  if (target?.status === 'active' && target.role !== data.role) {
    requireOwnerWithout(state.members, { ...target, role: data.role });
  }
  requireRole(state, actor, 'owner', at);
  const member = found(state, data.membership);
  if (member.status !== 'active') {
    throw new DomainError('conflict', {
      message:
        member.status === 'invited'
          ? 'This person has not joined yet. Invite again with the other role: POST /v1/org/members.'
          : 'This membership is over. Invite the person again: POST /v1/org/members.',
    });
  }
  if (member.role === data.role) return [];
  const { membership, role: from } = member;
  const keys = endKeysOf(state, member.user, data.keepKeys ?? [], metadata);
  const changed = { org: state.org, membership, from, to: data.role };
  if (isAtLeast(data.role, ADMIN_KEY_ROLE)) return [{ type: 'MemberRoleChanged', data: { ...changed, at } }];
  return [{ type: 'MemberRoleChanged', data: { ...changed, ...keptKeys(keys), at } }, ...keys.revocations];
};

/** One append: nobody is gone whose keys or passkeys go on by accident, whatever crashes. */
const remove = (
  { data, metadata }: Of<'RemoveMember'>,
  state: LivingOrganization,
): readonly (MemberEvent | AdminKeyEvent | PasskeyEvent)[] => {
  const { actor, now: at } = metadata;
  const own = roleOf(state, actor, at);
  const member = found(state, data.membership);
  const self = actor.type === 'user' && actor.id === member.user;
  if (!self) {
    requireRole(state, actor, 'admin', at);
    requireManageable(own, member.role);
  }
  if (member.status === 'removed') return [];
  requireOwnerWithout(state.members, { ...member, status: 'removed' });
  const { membership, role } = member;
  // Who is only invited is not let in yet; keys from an earlier membership were kept on purpose.
  const keys = member.status === 'active' ? endKeysOf(state, member.user, data.keepKeys ?? [], metadata) : NO_KEYS;
  const removed = { org: state.org, membership, role, self, ...keptKeys(keys), at };
  const passkeys = endPasskeysOf(state, membership, at);
  return [{ type: 'MemberRemoved', data: removed }, ...keys.revocations, ...passkeys];
};

const NO_KEYS: EndOfKeys = { revocations: [], kept: [] };

const keptKeys = ({ kept }: EndOfKeys): { readonly kept_keys?: readonly KeyId[] } =>
  kept.length === 0 ? {} : { kept_keys: kept };

/** {@link evolveMembers} is the second layer: it passes over an event that would leave no active owner. */
const requireOwnerWithout = (members: Memberships, changed: Membership): void => {
  if (!hasActiveOwner(withMembership(members, changed))) throw new DomainError('last_owner');
};

const changeReferences = (
  { data, metadata }: Of<'ChangeMemberReferences'>,
  state: LivingOrganization,
): readonly MemberEvent[] => {
  requireRole(state, metadata.actor, 'owner', metadata.now);
  const member = found(state, data.membership);
  if (member.status === 'removed') {
    throw new DomainError('conflict', { message: 'This membership is over. Invite the person again first.' });
  }
  const references = data.references ?? member.references;
  const chatAccounts = data.chatAccounts ?? member.chatAccounts;
  if (isSameList(references, member.references) && isSameList(chatAccounts, member.chatAccounts)) return [];
  const others = [...state.members.values()].filter(
    ({ membership, status }) => status !== 'removed' && membership !== member.membership,
  );
  requireFree(
    'references',
    references.filter((each) => !member.references.includes(each)),
    others.flatMap((other) => other.references),
  );
  requireFree(
    'chat_accounts',
    chatAccounts,
    others.flatMap((other) => other.chatAccounts),
  );
  const { membership } = member;
  const changed = { org: state.org, membership, references, chat_accounts: chatAccounts, at: metadata.now };
  return [{ type: 'MemberReferencesChanged', data: changed }];
};

const isSameList = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((value, index) => value === b[index]);

const requireFree = (param: string, wanted: readonly string[], taken: readonly string[]): void => {
  if (!wanted.some((value) => taken.includes(value))) return;
  throw new DomainError('conflict', {
    param,
    message: `One of the ${param} already means another member of the organization. Take it from that member first.`,
  });
};

/** @throws {DomainError} not_found */
const found = (state: LivingOrganization, id: MembershipId): Membership => {
  const member = state.members.get(id);
  if (!member) throw new DomainError('not_found');
  return member;
};

/**
 * Who comes back is known by the references that the person had when the last membership ended, those apart that mean somebody
 * else by now: else a person could leave, be invited again, and approve what runs for that very person. Chat accounts stay
 * behind: they let somebody decide, and what gives power is given anew.
 */
const neverJoined = (members: Memberships, user: UserId) => {
  const all = [...members.values()];
  const taken = all.filter(({ status }) => status !== 'removed').flatMap(({ references }) => references);
  const earlier = all.findLast((member) => member.user === user)?.references ?? [];
  return { joinedAt: null, references: earlier.filter((each) => !taken.includes(each)), chatAccounts: [] };
};

export const evolveMembers = (members: Memberships, event: MemberEvent): Memberships => {
  if (event.type === 'LoginLinkIssued') return members;
  const known = members.get(event.data.membership);
  if (event.type === 'MemberInvited') {
    const { membership, user, role, invitation, by, expires_at: invitationExpiresAt } = event.data;
    const invited = { invitation, invitationExpiresAt, invitedBy: by, role, status: 'invited' as const };
    return withMembership(members, { ...(known ?? neverJoined(members, user)), membership, user, ...invited });
  }
  if (!known) return members;
  switch (event.type) {
    case 'MemberJoined':
      return withMembership(members, {
        ...known,
        status: 'active',
        invitation: null,
        invitationExpiresAt: null,
        joinedAt: event.data.at,
      });
    case 'MemberRoleChanged':
      return withOwner(members, { ...known, role: event.data.to });
    case 'MemberRemoved':
      return withOwner(members, { ...known, status: 'removed', invitation: null, invitationExpiresAt: null });
    case 'MemberReferencesChanged': {
      const { references, chat_accounts: chatAccounts } = event.data;
      return withMembership(members, { ...known, references, chatAccounts });
    }
    case 'MemberAddressSet':
      return members;
  }
};

/** The second layer of "always one active owner": {@link requireOwnerWithout} is the first. */
const withOwner = (members: Memberships, changed: Membership): Memberships => {
  const next = withMembership(members, changed);
  return hasActiveOwner(next) || !hasActiveOwner(members) ? next : members;
};
