import type { Digest } from '#libs/crypto';
import type { ActionId, AgentId } from '../kernel/index.js';

/** A nonce, and the one submission that is about to consume it. */
export interface NonceReservation {
  readonly agent: AgentId;
  readonly nonce: string;
  readonly action: ActionId;
  /** Of the call as it was sent: the same action with another digest is another submission. */
  readonly digest: Digest;
  /** Unix milliseconds, by the clock of whoever reserves. */
  readonly reservedMs: number;
  /** Until then the row stays. No check accepts the intent any more long before. */
  readonly expiresMs: number;
}

/** For whom a nonce is reserved. */
export type NonceHolder = Pick<NonceReservation, 'action' | 'digest' | 'reservedMs'>;

/**
 * Nonces are accepted once for each agent (rule INTENT-3). A row beside the log, written before the append of the
 * submission (docs/adr/0019): it keeps two actions apart that name one nonce, and says nothing of whether the action it
 * names came to be. That is the log's to say.
 */
export abstract class IntentNonces {
  /**
   * Reserves the nonce unless it is reserved already, which changes nothing.
   * @returns who holds it now: of several that reserve at once, one
   * @throws {StoreUnavailable}
   */
  abstract reserve(wanted: NonceReservation): Promise<NonceHolder>;
  /**
   * Gives a nonce to another action. Only for one whose holder can never consume it any more.
   * @returns false where `from` does not hold it (any more)
   * @throws {StoreUnavailable}
   */
  abstract takeOver(wanted: NonceReservation, from: ActionId): Promise<boolean>;
  /**
   * Removes the rows whose time was over then.
   * @returns how many
   */
  abstract removeExpired(nowMs: number): Promise<number>;
}
