import type { RouteOptions } from '../http/route.decorator.js';

/** Document 3: sessions and admin keys; agent keys never. */
export const CONTROL_PLANE = {
  auth: 'session_or_key',
  admin: true,
  since: '2026-10-01',
} as const satisfies RouteOptions;

/** A source is at most 256 KiB; in JSON, with its quotes and line breaks escaped, it may be several times that. */
export const SOURCE_BODY = { ...CONTROL_PLANE, maxBodyBytes: 1024 * 1024 } as const satisfies RouteOptions;
