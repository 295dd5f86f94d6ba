import type { Digest } from '#libs/crypto';
import type { ActionId, AgentId } from '../../kernel/index.js';

/** A nonce, and the submission that is about to consume it. */
export interface NonceReservation {
  readonly agent: AgentId;
  readonly nonce: string;
  readonly action: ActionId;
  /** Digest of the request. The same action id with another digest is another submission. */
  readonly digest: Digest;
  /** Unix milliseconds, by the clock of the process that reserves. */
  readonly reservedMs: number;
  /** The row is kept until then, in Unix milliseconds: long after the intent has stopped being accepted. */
  readonly expiresMs: number;
}

/** The submission for which a nonce is reserved. */
export type NonceHolder = Pick<NonceReservation, 'action' | 'digest' | 'reservedMs'>;

/**
 * Each nonce is accepted once per agent (rule INTENT-3). A reservation is a row that is written before the append of
 * the submission (docs/adr/0019). It keeps two actions from using one nonce, and does not say whether its action was
 * recorded; the log says that.
 */
export abstract class IntentNonces {
  /**
   * Reserves the nonce, unless it is already reserved.
   * @returns the holder after the call; of several concurrent calls, one becomes the holder
   * @throws {StoreUnavailable}
   */
  abstract reserve(wanted: NonceReservation): Promise<NonceHolder>;
  /**
   * Gives a nonce to another action. Only allowed if the holder can never consume the nonce any more.
   * @returns false if `from` does not hold the nonce (any more)
   * @throws {StoreUnavailable}
   */
  abstract takeOver(wanted: NonceReservation, from: ActionId): Promise<boolean>;
  /**
   * Removes the rows that had expired at that time.
   * @returns the number of rows
   */
  abstract removeExpired(nowMs: number): Promise<number>;
}
