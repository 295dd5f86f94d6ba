import type { EntityManager } from 'typeorm';
import type { RowType } from './row-transaction.js';

/**
 * Of a table that keeps its newest rows alone: those whose key lies below the floor are gone, or about to go, whatever the
 * log still says of them. A fold leaves them out, and a comparison passes over them on both sides.
 */
export interface RowFloor {
  readonly rowType: RowType<object>;
  /** Its primary key, an integer: the same name in the row object and in the table. */
  readonly key: string;
  /** The floor of the rows that are made from this store; 0 where nothing has gone yet. */
  of(manager: EntityManager, storeId: string): Promise<bigint>;
}
