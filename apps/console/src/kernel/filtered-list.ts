import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useFilters } from './address.ts';
import { PAGE_SIZE, useList } from './lists.ts';

/** Filters as they stand in the address, with the size of a page: what a value may be is the service's to judge. */
type PageQuery = Readonly<Record<string, never>>;

/**
 * A list by the filters of its screen's address.
 * @param key of the list, and of what is new in it
 * @param names of the filters, as the API has them: whatever else stands in the address narrows nothing, and is told
 * @param read one page
 */
export const useFilteredList = <Row extends { readonly id: string }>(
  key: string,
  names: readonly string[],
  read: (query: PageQuery) => ReturnType<Parameters<typeof useList<Row>>[1]>,
) => {
  const { filters, clear } = useFilters();
  const queries = useQueryClient();
  const wanted = Object.fromEntries(
    names.flatMap((name) => (filters.has(name) ? [[name, filters.get(name) ?? ''] as const] : [])),
  );
  const list = useList<Row>([key, wanted], (cursor) =>
    read({ ...wanted, limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) } as unknown as PageQuery),
  );
  const isFiltered = Object.keys(wanted).length > 0;
  const fillsItself = !isFiltered && !list.isPending && list.error === null && list.rows.length === 0;
  useFilling(fillsItself, list.newCount > 0, list.refetch);
  return {
    ...list,
    isFiltered,
    /** Empty, and not by a filter: what comes is shown at once, since no row stands under a finger. */
    fillsItself,
    /** Names in the address that this list has no filter of. */
    unknown: [...new Set(filters.keys())].filter((name) => !names.includes(name)),
    clearFilters: clear,
    showNew: () => void queries.resetQueries({ queryKey: [key, wanted] }),
  };
};

const AGAIN_MS = 1_000;
const TRIES_MAX = 15;

/** Reads an empty list again once something has come, until it stands there: a list may be a moment behind the stream. */
const useFilling = (isEmpty: boolean, hasCome: boolean, read: () => Promise<unknown>): void => {
  const [triesLeft, setTriesLeft] = useState(0);
  useEffect(() => {
    if (isEmpty && hasCome) setTriesLeft(TRIES_MAX);
  }, [isEmpty, hasCome]);
  useEffect(() => {
    if (!isEmpty || triesLeft === 0) return undefined;
    const timer = setTimeout(
      () => {
        setTriesLeft((left) => left - 1);
        void read();
      },
      triesLeft === TRIES_MAX ? 0 : AGAIN_MS,
    );
    return () => clearTimeout(timer);
  }, [isEmpty, triesLeft, read]);
};
