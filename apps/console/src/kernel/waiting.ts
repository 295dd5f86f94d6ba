import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';

/**
 * The approvals that wait for people, those that run out first on top, 100 at most. All places that show their count
 * use this query, so that the counts are the same.
 */
export const useWaitingApprovals = () =>
  useQuery({
    queryKey: ['approval-count'],
    queryFn: () => bodyOf(api.GET('/v1/approvals', { params: { query: { limit: 100 } } })),
    staleTime: 5_000,
    refetchInterval: 30_000,
  });
