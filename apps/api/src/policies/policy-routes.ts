import { CHANGE } from '../control-plane.js';
import type { RouteOptions } from '../http/route.decorator.js';

/** A source is at most 256 KiB; in JSON, with its quotes and line breaks escaped, it may be several times that. */
export const SOURCE_BODY = { ...CHANGE, maxBodyBytes: 1024 * 1024 } as const satisfies RouteOptions;
