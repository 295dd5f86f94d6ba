import type { JsonObject } from '#libs/crypto';
import type { ListCursors } from '../http/cursor-codec.js';
import { type ListEnvelope, pageOf } from '../http/list-envelope.js';
import type { ListQuery } from '../http/query-shape.js';

/**
 * A page of a list that is read whole: of bounded length, and from a stream rather than from projected rows. A cursor names
 * the item its page ended with; where that is gone, the list begins anew.
 */
export const pageOfAll = <Item>(
  items: readonly Item[],
  { limit }: ListQuery,
  cursors: ListCursors,
  shape: { readonly item: (item: Item) => JsonObject; readonly id: (item: Item) => string },
): ListEnvelope<JsonObject> => {
  const first = cursors.after === null ? 0 : items.findIndex((item) => shape.id(item) === cursors.after) + 1;
  const rows = items.slice(first, first + limit);
  const hasMore = items.length > first + limit;
  return pageOf({ rows, hasMore }, cursors, { item: shape.item, position: shape.id });
};
