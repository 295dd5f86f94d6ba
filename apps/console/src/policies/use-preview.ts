import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { api, bodyOf } from '../kernel/client.ts';
import { ApiError } from '../kernel/errors.ts';

export interface PreviewWish {
  readonly source: string;
  /** 100 to 2,000. */
  readonly actions: number;
  readonly agent: string | null;
  readonly tool: string | null;
}

/** The API answers 20 a minute for each person, and says when there is room for the next. */
const WAIT_S = 6;
const TRIES_MAX = 5;

export const isTooOften = (error: Error | null): error is ApiError =>
  error instanceof ApiError && error.code === 'rate_limited';

/** What a text would have said of the newest calls. An answer about an earlier text stays until the next is there. */
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
