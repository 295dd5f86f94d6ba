import { ListQuery, QueryInteger } from '../http/query-shape.js';
import { FilterText } from '../lists/filter-text.decorator.js';

/** The largest number of fifteen decimal digits; no chain gets that long. */
const SEQ_MAX = 999_999_999_999_999;

/** Query parameters of GET /v1/deeds. `list-deeds.filters.ts` says which values they may have. */
export class ListDeedsQuery extends ListQuery {
  @FilterText() kind?: string;
  @FilterText() action?: string;
  @FilterText() 'issued_at[gte]'?: string;
  @FilterText() 'issued_at[lt]'?: string;
  @QueryInteger(0, SEQ_MAX) 'seq[gte]'?: number;
  @QueryInteger(0, SEQ_MAX) 'seq[lt]'?: number;
  @FilterText() order?: string;
}
