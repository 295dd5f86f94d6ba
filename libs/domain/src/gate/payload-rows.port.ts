import type { OrgId, Payload } from '../kernel/index.js';

/** A stored payload without what is in it. */
export interface PayloadRow extends Pick<Payload, 'owner' | 'kind' | 'digest'> {
  /** Grows from row to row; a row keeps its own. */
  readonly number: bigint;
  readonly org: OrgId;
}

export interface PayloadPage {
  /** Where the sweep stands before this page. */
  readonly from: bigint;
  /** In the order they were stored. */
  readonly rows: readonly PayloadRow[];
}

/** Payloads as rows that are looked at once each, in the order they were stored, by however many processes. */
export abstract class PayloadRows {
  /**
   * The first rows that no sweep over this store has looked at, all older than `minAgeMs`: the rows after a younger one
   * wait with it. The page is empty when there are none.
   * @throws {StoreUnavailable}
   */
  abstract next(minAgeMs: number, limit: number): Promise<PayloadPage>;

  /**
   * Removes rows of the page and moves the sweep on past all of it: both or neither. False, with nothing done, when
   * another process has moved the sweep meanwhile.
   * @throws {StoreUnavailable}
   */
  abstract settle(page: PayloadPage, orphans: readonly PayloadRow[]): Promise<boolean>;
}
