import { ApiError } from './errors.ts';

const PAGE_SIZE = 100;
/** Ten thousand rows: a list that went on for ever would keep the page reading for ever. */
const PAGES_MAX = 100;
export const EVERY_ROW_MAX = PAGES_MAX * PAGE_SIZE;

interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/**
 * All rows of a list, read page by page: names and budgets are needed of every row, and not of the first page only.
 * Missing names are not read one by one, by id, because a page of deeds may name fifty objects, each of which would be
 * a request; and the choices of filters and the search need all rows anyway.
 * @param tooMany the error's message if the list has more than `EVERY_ROW_MAX` rows; without it, the rest is left out
 * @throws {ApiError} `too_many_rows`, with that message
 */
export const everyRow = async <Row>(
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Row>>,
  tooMany?: string,
): Promise<{ readonly data: readonly Row[] }> => {
  const data: Row[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < PAGES_MAX; pages += 1) {
    const page: Page<Row> = await read(cursor === null ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor });
    data.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === null) return { data };
  }
  if (tooMany !== undefined) throw new ApiError({ code: 'too_many_rows', message: tooMany, status: 0 });
  return { data };
};
