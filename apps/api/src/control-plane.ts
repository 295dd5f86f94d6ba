import type { RouteOptions } from './http/route.decorator.js';

/** Routes for sessions and admin keys; agent keys never (rule KEY-6). */
const CONTROL_PLANE = { auth: 'session_or_key', admin: true, since: '2026-10-01' } as const satisfies RouteOptions;

/** Whatever is read: every member of the organization may (rule PEOPLE-1). */
export const READ = { ...CONTROL_PLANE, role: 'viewer' } as const satisfies RouteOptions;

/** Agents, keys, policies, connectors: admins and owners change them. */
export const CHANGE = { ...CONTROL_PLANE, role: 'admin' } as const satisfies RouteOptions;

/** What an owner alone does; an admin key counts as Admin and never as Owner. */
export const OWN = { ...CONTROL_PLANE, role: 'owner' } as const satisfies RouteOptions;

/** For the person who is signed in, about that person. */
export const SESSION = { auth: 'session', role: 'viewer', since: '2026-10-01' } as const satisfies RouteOptions;
