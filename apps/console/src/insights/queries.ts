import type { Schemas } from '../kernel/client.ts';
import { laggingQuery, query } from '../kernel/query.ts';
import type { By, Decisions } from './stats.ts';

/**
 * The service caches the overview for this long. A read after an event may get the cached answer, so another read
 * follows once the cache is over.
 */
export const KEPT_MS = 10_000;

export const overviewQuery = (window: Schemas['Overview']['window']) =>
  query('/v1/overview', { query: { window } }, { staleTime: KEPT_MS });

export const decisionsQuery = (window: Decisions['window'], by: By) =>
  laggingQuery('/v1/insights/decisions', { query: { window, by } });

export const verdictsQuery = (window: Decisions['window'], by: By) =>
  laggingQuery('/v1/insights/verdicts', { query: { window, by } });
