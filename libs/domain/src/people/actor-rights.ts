import { DomainError, type Actor, type KeyId, type Timestamp } from '../kernel/index.js';
import { isKeyActive } from './key-ring.js';
import { activeMembershipOf } from './membership.js';
import type { LivingOrganization } from './organization.state.js';
import { isAtLeast, type Role, ROLE_IN_WORDS, rolesFrom } from './role.js';

/** An admin key may what an admin may, where no route says otherwise (rule KEY-6). */
export const ADMIN_KEY_ROLE: Role = 'admin';

/**
 * The role in which an actor changes the organization, by the very revision that the change is appended to: the guard has
 * judged the lowest role of the route, and by now the actor may have been demoted, removed or revoked.
 * @throws {DomainError} insufficient_role; api_key_revoked, api_key_expired
 */
export const roleOf = (state: LivingOrganization, actor: Actor, at: Timestamp): Role => {
  switch (actor.type) {
    case 'operator':
    case 'system':
      return 'owner';
    case 'user': {
      const membership = actor.id === null ? null : activeMembershipOf(state.members, actor.id);
      if (!membership) throw new DomainError('insufficient_role');
      return membership.role;
    }
    case 'admin_key': {
      const key = state.adminKeys.get(actor.id as KeyId);
      if (!key || key.revokedAt !== null) throw new DomainError('api_key_revoked');
      if (!isKeyActive(key, at)) throw new DomainError('api_key_expired');
      return ADMIN_KEY_ROLE;
    }
    case 'agent':
      throw new DomainError('insufficient_role');
  }
};

/** @throws {DomainError} as {@link roleOf} does @param param the field that only a higher role may send */
export const requireRole = (
  state: LivingOrganization,
  actor: Actor,
  lowest: Role,
  at: Timestamp,
  param: string | null = null,
): Role => {
  const role = roleOf(state, actor, at);
  if (isAtLeast(role, lowest)) return role;
  throw new DomainError('insufficient_role', { param, message: messageFor(lowest, param) });
};

const messageFor = (lowest: Role, param: string | null): string => {
  const what = param === null ? 'do this' : `change ${param}`;
  const who = rolesFrom(lowest).map((role) => ROLE_IN_WORDS[role]);
  return `Only ${who.join(' or ')} of the organization may ${what}. Ask one; GET /v1/org/members lists them.`;
};
