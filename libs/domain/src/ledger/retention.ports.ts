import type { Digest } from '#libs/crypto';
import type { ActionId, OrgId } from '../kernel/index.js';

/**
 * The last deed of a ledger whose action has lost its bodies to retention, as have the actions of all deeds before it.
 * The hash identifies the deed: after a fork of the ledger the revision may hold another one.
 */
export interface RetentionCursor {
  readonly org: OrgId;
  /** The revision in `ledger-<org>`, from 0. */
  readonly revision: number;
  readonly bodyHash: Digest;
}

/** One durable row for each organization. */
export abstract class RetentionRows {
  /**
   * The cursor as it is stored. Whether the ledger still holds its deed is for `RetentionReach` to say.
   * @throws {StoreUnavailable} when the database gives no answer
   */
  abstract cursorOf(org: OrgId): Promise<RetentionCursor | null>;

  /**
   * Removes every body of these actions and moves the cursor: both or neither, so that a reader that misses a body and
   * then reads the cursor finds it moved.
   * @param from the cursor as the caller has read it
   * @returns how many bodies were removed; null, with nothing done, if another process has moved the cursor meanwhile
   * @throws {StoreUnavailable} when the database gives no answer
   */
  abstract remove(
    actions: readonly ActionId[],
    from: RetentionCursor | null,
    to: RetentionCursor,
  ): Promise<number | null>;
}
