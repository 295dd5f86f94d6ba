const PAGE_SIZE = 100;

interface Page<Row> {
  readonly data: readonly Row[];
  readonly next_cursor: string | null;
}

/** All rows of a list, read page by page: names and budgets are needed of every row, and not of the first page only. */
export const everyRow = async <Row>(
  read: (page: { readonly limit: number; readonly cursor?: string }) => Promise<Page<Row>>,
): Promise<{ readonly data: readonly Row[] }> => {
  const data: Row[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<Row> = await read(cursor === null ? { limit: PAGE_SIZE } : { limit: PAGE_SIZE, cursor });
    data.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null);
  return { data };
};
