import type { Schemas } from '../kernel/client.ts';
import { ROLE_VALUES } from '../kernel/contract.ts';
import type { Role } from '../kernel/session.tsx';

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
  const manages = me.role === 'owner' || (me.role === 'admin' && role !== 'owner');
  const isMe = id === me.membership;
  return {
    change: me.role === 'owner' && status === 'active',
    invite: manages && status === 'invited' && email !== null,
    remove: manages && !isMe && status !== 'removed',
    leave: isMe && status === 'active',
  };
};

/** The roles that a person may give to others. */
export const rolesToGive = (me: Looker): readonly Role[] =>
  me.role === 'owner' ? ROLE_VALUES : me.role === 'admin' ? ['viewer', 'admin'] : [];

export const ROLES: Readonly<Record<Role, { readonly name: string; readonly about: string }>> = {
  viewer: { name: 'Viewer', about: 'Can view everything and decide approvals of rules that name them.' },
  admin: { name: 'Admin', about: 'Can also set up agents, policies and connectors, stop agents and invite people.' },
  owner: {
    name: 'Owner',
    about: 'Can also change roles, retention and approval settings, and start all agents again.',
  },
};

/** The lines of a text, without empty and repeated ones. */
export const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];
