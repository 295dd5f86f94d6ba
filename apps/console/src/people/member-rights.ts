import type { Schemas } from '../kernel/client.ts';
import type { Role } from '../kernel/session.tsx';

type Membership = Schemas['Membership'];

/** Who looks: their role, and which membership is their own. */
export interface Looker {
  readonly role: Role;
  readonly membership: string;
}

export interface MemberRights {
  readonly change: boolean;
  /** Again, with a fresh link. */
  readonly invite: boolean;
  readonly remove: boolean;
  /** Removing oneself. */
  readonly leave: boolean;
}

/** What may be asked for (docs/sign-in.md, Roles). The service judges each again; what it would refuse for the role alone is not drawn. */
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

/** Roles that somebody may give away. */
export const rolesToGive = (me: Looker): readonly Role[] =>
  me.role === 'owner' ? ['viewer', 'admin', 'owner'] : me.role === 'admin' ? ['viewer', 'admin'] : [];

export const ROLES: Readonly<Record<Role, { readonly name: string; readonly about: string }>> = {
  viewer: { name: 'Viewer', about: 'Can view everything and decide approvals of rules that name them.' },
  admin: { name: 'Admin', about: 'Can also set up agents, policies and connectors, stop agents and invite people.' },
  owner: {
    name: 'Owner',
    about: 'Can also change roles, retention and approval settings, and start all agents again.',
  },
};

/** Lines of a text, without empty ones and those that stand twice. */
export const linesOf = (text: string): readonly string[] => [
  ...new Set(
    text
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  ),
];
