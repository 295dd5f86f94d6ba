import { useQueryClient } from '@tanstack/react-query';
import { useFilters } from './address.ts';
import { PAGE_SIZE, useList } from './lists.ts';

/** Filters as they stand in the address, with the size of a page: what a value may be is the service's to judge. */
type PageQuery = Readonly<Record<string, never>>;

/**
 * A list by the filters of its screen's address.
 * @param key of the list, and of what is new in it
 * @param names of the filters, as the API has them: whatever else stands in the address is none
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
  return {
    ...list,
    isFiltered: Object.keys(wanted).length > 0,
    clearFilters: clear,
    showNew: () => void queries.resetQueries({ queryKey: [key, wanted] }),
  };
};
