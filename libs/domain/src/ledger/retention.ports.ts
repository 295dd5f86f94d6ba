import type { Digest } from '#libs/crypto';
import type { ActionId, OrgId } from '../kernel/index.js';

/**
 * The last deed of a ledger whose action has lost its bodies to retention; so has every action of a deed before it.
 * The hash says which ledger was meant: after a fork the revision may hold another deed.
 */
export interface RetentionCursor {
  readonly org: OrgId;
  /** In `ledger-<org>`, from 0. */
  readonly revision: number;
  readonly bodyHash: Digest;
}

/** One durable row an organization. */
export abstract class RetentionRows {
  /** As it is stored; whether the ledger still holds its deed is for `RetentionReach` to say. @throws {StoreUnavailable} */
  abstract cursorOf(org: OrgId): Promise<RetentionCursor | null>;

  /**
   * Removes every body of these actions and moves the cursor: both or neither, so that whoever misses a body and then
   * asks for the cursor finds it moved.
   * @param from the row as it was read
   * @returns how many bodies were removed; null, with nothing done, where somebody else has moved the cursor meanwhile
   * @throws {StoreUnavailable}
   */
  abstract remove(
    actions: readonly ActionId[],
    from: RetentionCursor | null,
    to: RetentionCursor,
  ): Promise<number | null>;
}
