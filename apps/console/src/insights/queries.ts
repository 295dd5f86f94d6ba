import { laggingQuery } from '../kernel/query.ts';
import type { By, Decisions } from './stats.ts';

export const decisionsQuery = (window: Decisions['window'], by: By) =>
  laggingQuery('/v1/insights/decisions', { query: { window, by } });

export const verdictsQuery = (window: Decisions['window'], by: By) =>
  laggingQuery('/v1/insights/verdicts', { query: { window, by } });
