import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { ApiError } from '../kernel/errors.ts';
import { type PreviewWish, previewQuery } from './queries.ts';

/** The wait before a retry, if the answer has no `Retry-After`. The API allows 20 previews a minute for each person. */
const WAIT_S = 6;
const TRIES_MAX = 5;

export const isTooOften = (error: Error | null): error is ApiError =>
  error instanceof ApiError && error.code === 'rate_limited';

/**
 * What a text would have decided about the newest calls. The answer about an earlier text stays until the next arrives.
 */
export const usePreview = (wish: PreviewWish, isWanted: boolean) =>
  useQuery({
    ...previewQuery(wish),
    enabled: isWanted,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
    retry: (count, error) => isTooOften(error) && count < TRIES_MAX,
    retryDelay: (_, error) => 1_000 * ((isTooOften(error) ? error.retryAfterS : null) ?? WAIT_S),
  });
