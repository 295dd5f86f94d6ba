import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';

export interface PreviewWish {
  readonly source: string;
  /** How many of the newest actions to judge, from 100 to 2,000. */
  readonly actions: number;
  readonly agent: string | null;
  readonly tool: string | null;
}

/** The wait before a retry, if the answer has no `Retry-After`. The API allows 20 previews a minute for each person. */
const WAIT_S = 6;
const TRIES_MAX = 5;

export const isTooOften = (error: Error | null): error is ApiError =>
  error instanceof ApiError && error.code === 'rate_limited';

/**
 * What a text would have decided about the newest calls. The answer about an earlier text stays until the next arrives.
 */
export const usePreview = ({ source, actions, agent, tool }: PreviewWish, isWanted: boolean) =>
  useQuery({
    queryKey: ['policy-preview', source, actions, agent, tool],
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST('/v1/policies/preview', {
          body: { source, actions, ...(agent === null ? {} : { agent }), ...(tool === null ? {} : { tool }) },
          signal,
        }),
      ),
    enabled: isWanted,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    retry: (count, error) => isTooOften(error) && count < TRIES_MAX,
    retryDelay: (_, error) => 1_000 * ((isTooOften(error) ? error.retryAfterS : null) ?? WAIT_S),
  });
