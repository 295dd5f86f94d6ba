import { useQuery } from '@tanstack/react-query';
import { api, bodyOf } from './client.ts';

/**
 * What waits for people, what runs out first on top, a hundred at most. The one read of every place that counts it, so that no
 * two of them differ.
 */
export const useWaitingApprovals = () =>
  useQuery({
    queryKey: ['approval-count'],
    queryFn: () => bodyOf(api.GET('/v1/approvals', { params: { query: { limit: 100 } } })),
    staleTime: 5_000,
    refetchInterval: 30_000,
  });
