import { useEffect, useState } from 'react';
import { useFilters } from './address.ts';
import { useList } from './lists.ts';
import type { Pages } from './query.ts';

/** The filters from the address. Typed as empty because their values are not checked here: the service judges them. */
export type Filters = Readonly<Record<string, never>>;

/**
 * A list that is filtered by the address of its screen.
 * @param names the filters that the API knows; other names in the address do not filter, and are returned as `unknown`
 * @param pagesBy the list by its filters
 */
export const useFilteredList = <Row extends { readonly id: string }>(
  names: readonly string[],
  pagesBy: (filters: Filters) => Pages<Row>,
) => {
  const { filters, clear } = useFilters();
  const wanted = Object.fromEntries(
    names.flatMap((name) => (filters.has(name) ? [[name, filters.get(name) ?? ''] as const] : [])),
  );
  const list = useList<Row>(pagesBy(wanted as unknown as Filters));
  const isFiltered = Object.keys(wanted).length > 0;
  const fillsItself = !isFiltered && !list.isPending && list.error === null && list.rows.length === 0;
  useFilling(fillsItself, list.newCount > 0, list.refetch);
  return {
    ...list,
    isFiltered,
    /**
     * Whether the list is empty without a filter. Then new rows are shown at once, because no row can move under a
     * person's finger.
     */
    fillsItself,
    /** Names in the address that are no filters of this list. */
    unknown: [...new Set(filters.keys())].filter((name) => !names.includes(name)),
    clearFilters: clear,
  };
};

const AGAIN_MS = 1_000;
const TRIES_MAX = 15;

/**
 * If events told of new rows for an empty list, reads it again every second until it has a row, 15 times at most: the
 * rows of a list may be a moment behind the event stream.
 */
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
