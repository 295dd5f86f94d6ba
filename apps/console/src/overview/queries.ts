import type { Schemas } from '../kernel/client.ts';
import { query } from '../kernel/query.ts';

/**
 * The service caches the overview for this long. A read after an event may get the cached answer, so another read
 * follows once the cache is over.
 */
export const KEPT_MS = 10_000;

export const overviewQuery = (window: Schemas['Overview']['window']) =>
  query('/v1/overview', { query: { window } }, { staleTime: KEPT_MS });
