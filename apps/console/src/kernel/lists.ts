import { type InfiniteData, useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useLive } from './live-provider.tsx';
import type { Page } from './live-cache.ts';

/** Rows that a list shows at most; who looks further back narrows it by a filter. */
const MAX_ROWS = 500;
export const PAGE_SIZE = 50;

interface Answer<Row> {
  readonly body: Page<Row>;
  readonly lag: number;
}

/** With how much that is new was heard of when it was asked for. */
type Kept<Row> = Page<Row> & { readonly lag: number; readonly heard: number };

/**
 * A list, page by page. Its first page is read again by a wish of the person alone: a row is never put where another stood.
 * @param key of the list, then its filters
 * @param read one page
 */
export const useList = <Row extends { readonly id: string }>(
  key: readonly [string, ...unknown[]],
  read: (cursor: string | undefined) => Promise<Answer<Row>>,
) => {
  const { freshen, heard, heardNow, closeGap } = useLive();
  const [name] = key;
  const query = useInfiniteQuery<Kept<Row>, Error, InfiniteData<Kept<Row>>, typeof key, string | undefined>({
    queryKey: key,
    queryFn: async ({ pageParam }) => {
      const before = heardNow(name);
      const { body, lag } = await read(pageParam);
      if (pageParam === undefined) closeGap();
      return { ...body, data: freshen(body.data), lag, heard: before };
    },
    initialPageParam: undefined,
    getNextPageParam: (last, pages) =>
      pages.length * PAGE_SIZE >= MAX_ROWS ? undefined : (last.next_cursor ?? undefined),
    staleTime: 10_000,
    refetchOnWindowFocus: false,
  });
  const rows = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data]);
  const [first] = query.data?.pages ?? [];
  return {
    ...query,
    rows,
    lag: first?.lag ?? 0,
    isFull: rows.length >= MAX_ROWS,
    /** What was told of since this very list was asked for, under these filters or not. */
    newCount: first === undefined ? 0 : (heard[name] ?? 0) - first.heard,
  };
};
