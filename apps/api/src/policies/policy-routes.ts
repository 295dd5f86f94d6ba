import { CHANGE, READ } from '../control-plane.js';
import type { RouteOptions } from '../http/route.decorator.js';

/** A source is at most 256 KiB; in JSON, with its quotes and line breaks escaped, it may be several times that. */
export const SOURCE_BODY = { ...CHANGE, maxBodyBytes: 1024 * 1024 } as const satisfies RouteOptions;

/** One call, whose arguments are bounded as the gate bounds them, beside a source. */
export const DRY_RUN_BODY = { ...READ, maxBodyBytes: 2 * 1024 * 1024 } as const satisfies RouteOptions;

/** Trying a policy changes nothing: every member may. A source, and at most 1 MiB of cases, escaped. */
export const TRIAL_BODY = { ...READ, maxBodyBytes: 4 * 1024 * 1024 } as const satisfies RouteOptions;
