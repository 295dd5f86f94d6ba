import type { OrgId, Payload } from '../../kernel/index.js';

/** A stored payload without its body. */
export interface PayloadRow extends Pick<Payload, 'owner' | 'kind' | 'digest'> {
  /** Unique and increasing in the order of storage; it never changes. */
  readonly number: bigint;
  readonly org: OrgId;
}

export interface PayloadPage {
  /** The sweep's position before this page: the number of the last row it has looked at. */
  readonly from: bigint;
  /** In the order of storage. */
  readonly rows: readonly PayloadRow[];
}

/**
 * Payload rows for a sweep that looks at each row once, in the order of storage. Several processes share one sweep
 * position.
 */
export abstract class PayloadRows {
  /**
   * The next rows that the sweep has not looked at, up to the first row that is younger than `minAgeMs`. Empty if there
   * are none.
   * @throws {StoreUnavailable}
   */
  abstract next(minAgeMs: number, limit: number): Promise<PayloadPage>;

  /**
   * Removes the orphans and moves the sweep's position past the page, in one transaction. False, with nothing changed,
   * if another process has moved the position meanwhile.
   * @throws {StoreUnavailable}
   */
  abstract settle(page: PayloadPage, orphans: readonly PayloadRow[]): Promise<boolean>;
}
