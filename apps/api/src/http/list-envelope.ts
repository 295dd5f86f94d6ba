import type { ListCursors, ListPosition } from './cursor-codec.js';

/** What every list answers (docs/api-conventions.md, Lists). */
export interface ListEnvelope<Item> {
  readonly object: 'list';
  readonly data: readonly Item[];
  readonly has_more: boolean;
  readonly next_cursor: string | null;
}

/** A page of a list: its rows, and the cursor of the one after it. */
export const pageOf = <Row, Item>(
  { rows, hasMore }: { readonly rows: readonly Row[]; readonly hasMore: boolean },
  cursors: ListCursors,
  shape: { readonly item: (row: Row) => Item; readonly position: (row: Row) => ListPosition },
): ListEnvelope<Item> => {
  const last = rows.at(-1);
  return {
    object: 'list',
    data: rows.map(shape.item),
    has_more: hasMore,
    next_cursor: hasMore && last !== undefined ? cursors.next(shape.position(last)) : null,
  };
};
