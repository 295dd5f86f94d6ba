import type { RouteOptions } from './http/route.decorator.js';

/** Document 3: routes for sessions and admin keys; agent keys never. */
export const CONTROL_PLANE = {
  auth: 'session_or_key',
  admin: true,
  since: '2026-10-01',
} as const satisfies RouteOptions;
