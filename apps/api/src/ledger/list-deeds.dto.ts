import { ListQuery } from '../http/query-shape.js';
import { FilterText } from '../lists/filter-text.decorator.js';

/** Query parameters of GET /v1/deeds. What they may hold: `list-deeds.filters.ts`. */
export class ListDeedsQuery extends ListQuery {
  @FilterText() kind?: string;
  @FilterText() action?: string;
  @FilterText() 'issued_at[gte]'?: string;
  @FilterText() 'issued_at[lt]'?: string;
  @FilterText() order?: string;
}
