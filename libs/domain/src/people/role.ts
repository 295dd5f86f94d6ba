import { type Role, ROLES } from '../kernel/index.js';

export { type Role, ROLES };

/** Somebody of each role, in words. A role without its words does not compile. */
export const ROLE_IN_WORDS: Readonly<Record<Role, string>> = {
  viewer: 'a viewer',
  admin: 'an admin',
  owner: 'an owner',
};

export const isRole = (text: unknown): text is Role => (ROLES as readonly unknown[]).includes(text);

/** The role itself, and those after it. */
export const rolesFrom = (lowest: Role): readonly Role[] => ROLES.slice(ROLES.indexOf(lowest));

export const isAtLeast = (role: Role, lowest: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(lowest);
