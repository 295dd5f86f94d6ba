import { type InfiniteData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Key } from './keys.ts';
import type { Page } from './live-cache.ts';
import { useLive } from './live-provider.tsx';
import { PAGE_SIZE, type Pages } from './query.ts';

/** A list shows this many rows at most; to look further back, a person filters. */
const MAX_ROWS = 500;

/**
 * A page, with how far its rows were behind, and how many new rows the stream had told of when the page was asked for.
 */
type Kept<Row> = Page<Row> & { readonly lag: number; readonly heard: number };

/**
 * A list, page by page. Its first page is not read again by itself once it is shown, so that no row moves to another's
 * place under a person's finger: new rows are counted, and shown if the person asks for them.
 */
export const useList = <Row extends { readonly id: string }>({ queryKey, isStill, read }: Pages<Row>) => {
  const { freshen, heard, heardNow, closeGap } = useLive();
  const queries = useQueryClient();
  const [name] = queryKey;
  const query = useInfiniteQuery<Kept<Row>, Error, InfiniteData<Kept<Row>>, Key, string | undefined>({
    queryKey,
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
    meta: { isStill },
    refetchOnWindowFocus: false,
  });
  const rows = useMemo(() => query.data?.pages.flatMap(({ data }) => data) ?? [], [query.data]);
  const [first] = query.data?.pages ?? [];
  return {
    ...query,
    rows,
    lag: first?.lag ?? 0,
    isFull: rows.length >= MAX_ROWS,
    /**
     * How many new rows the stream told of since the first page was asked for, whether they match the filters or not.
     */
    newCount: first === undefined ? 0 : (heard[name] ?? 0) - first.heard,
    /** Reads the list again from its beginning, with its first page alone. */
    showNew: () => void queries.resetQueries({ queryKey }),
  };
};
