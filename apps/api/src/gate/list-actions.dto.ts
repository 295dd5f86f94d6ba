import { ListQuery } from '../http/query-shape.js';
import { FilterText } from '../lists/filter-text.decorator.js';

/** Query parameters of GET /v1/actions. `list-actions.filters.ts` checks their values. */
export class ListActionsQuery extends ListQuery {
  @FilterText() agent?: string;
  @FilterText() key?: string;
  @FilterText() tool?: string;
  @FilterText() state?: string;
  @FilterText() decision?: string;
  @FilterText() rule_id?: string;
  @FilterText() execution?: string;
  @FilterText() verdict?: string;
  @FilterText() level?: string;
  @FilterText() on_behalf_of?: string;
  @FilterText() session?: string;
  @FilterText() 'created_at[gte]'?: string;
  @FilterText() 'created_at[lt]'?: string;
  @FilterText() q?: string;
  @FilterText() shadow_differs?: string;
}
