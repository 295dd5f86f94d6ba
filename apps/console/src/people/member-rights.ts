import type { Schemas } from '../kernel/client.ts';
import { isAtLeast, type Role, rolesUpTo } from '../kernel/roles.ts';

type Membership = Schemas['Membership'];

/** The signed-in person: the role, and the id of the own membership. */
export interface Looker {
  readonly role: Role;
  readonly membership: string;
}

export interface MemberRights {
  readonly change: boolean;
  /** Inviting again, with a new link. */
  readonly invite: boolean;
  readonly remove: boolean;
  /** Leaving the organization. */
  readonly leave: boolean;
}

/**
 * The buttons to offer for a member (docs/sign-in.md, Roles): none that the service would refuse because of the role.
 * The service checks each request itself.
 */
export const rightsOver = ({ id, role, status, email }: Membership, me: Looker): MemberRights => {
  const manages = isAtLeast(me.role, role === 'owner' ? 'owner' : 'admin');
  const isMe = id === me.membership;
  return {
    change: isAtLeast(me.role, 'owner') && status === 'active',
    invite: manages && status === 'invited' && email !== null,
    remove: manages && !isMe && status !== 'removed',
    leave: isMe && status === 'active',
  };
};

/** The roles that a person may give to others. */
export const rolesToGive = (me: Looker): readonly Role[] => (isAtLeast(me.role, 'admin') ? rolesUpTo(me.role) : []);

/** The lines of a text, without empty and repeated ones. */
export const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];
