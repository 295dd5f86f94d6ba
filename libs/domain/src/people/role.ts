import { type Role, ROLES } from '../kernel/index.js';

export { type Role, ROLES };

export const isRole = (text: unknown): text is Role => (ROLES as readonly unknown[]).includes(text);

export const isAtLeast = (role: Role, lowest: Role): boolean => ROLES.indexOf(role) >= ROLES.indexOf(lowest);
