import type { ListCursors, ListPosition } from './cursor-codec.js';

/** Document 1, List envelope. */
export interface ListEnvelope<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/**
 * A page of a list.
 * @param rows up to `limit + 1` of them: one more than asked for says that there is more
 */
export const pageOf = <Row, Item>(
  rows: readonly Row[],
  limit: number,
  cursors: ListCursors,
  shape: { readonly item: (row: Row) => Item; readonly position: (row: Row) => ListPosition },
): ListEnvelope<Item> => {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > limit;
  return {
    object: 'list',
    data: page.map(shape.item),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? cursors.next(shape.position(last)) : null,
  };
};

/** A list that is always whole, such as a catalogue. */
export const wholeList = <Item>(data: readonly Item[]): ListEnvelope<Item> => ({
  object: 'list',
  data,
  has_more: false,
  next_cursor: null,
});
