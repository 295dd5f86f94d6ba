import type { Schemas } from './client.ts';
import { ROLE_VALUES } from './contract.ts';

export type Role = Schemas['Role'];

/** Each may do all that the ones before it may. A role without an entry does not compile. */
export const ROLES: Readonly<Record<Role, { readonly name: string; readonly about: string }>> = {
  viewer: { name: 'Viewer', about: 'Can view everything and decide approvals of rules that name them.' },
  admin: { name: 'Admin', about: 'Can also set up agents, policies and connectors, stop agents and invite people.' },
  owner: {
    name: 'Owner',
    about: 'Can also change roles, retention and approval settings, and start all agents again.',
  },
};

export const isAtLeast = (role: Role, lowest: Role): boolean =>
  ROLE_VALUES.indexOf(role) >= ROLE_VALUES.indexOf(lowest);

/** Everybody who may do what a role may: `admins and owners`. */
export const peopleFrom = (lowest: Role): string =>
  new Intl.ListFormat('en-GB').format(
    ROLE_VALUES.filter((role) => isAtLeast(role, lowest)).map((role) => `${ROLES[role].name.toLowerCase()}s`),
  );

/** The role itself, and those before it. */
export const rolesUpTo = (role: Role): readonly Role[] => ROLE_VALUES.slice(0, ROLE_VALUES.indexOf(role) + 1);
