import { useQuery } from '@tanstack/react-query';
import type { Filters } from '../kernel/filtered-list.ts';
import { pagesOf, query } from '../kernel/query.ts';

export const approvalPages = (filters: Filters) => pagesOf('/v1/approvals', { query: filters }, { isStill: true });

export const approvalQuery = (id: string) => query('/v1/approvals/{id}', { path: { id } });

/**
 * What a row of the queue shows of its approval. Kept apart from the card's, and fixed: each event of an approval, and
 * each decision, would have all rows of the queue read theirs again, while what a call asks for does not change.
 */
export const askedQuery = (id: string) =>
  query('/v1/approvals/{id}', { path: { id } }, { as: 'asked', isFixed: true, staleTime: 60_000 });

const waitingApprovals = query('/v1/approvals', { query: { limit: 100 } }, { staleTime: 5_000 });

/**
 * The approvals that wait for people, those that run out first on top, 100 at most. All places that show their count
 * use this query, so that the counts are the same.
 */
export const useWaitingApprovals = () => useQuery({ ...waitingApprovals, refetchInterval: 30_000 });
