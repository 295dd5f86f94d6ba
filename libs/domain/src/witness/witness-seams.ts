import type { LoggedTransaction } from '../connectors/index.js';
import type { ActionId, ConnectorId, OrgId, Timestamp } from '../kernel/index.js';

/** The witness of the gate, as decoders need it. Each call is safe to repeat: the verdict is found, and nothing is written. */
export interface ChangeLogVerdicts {
  /**
   * Records what the log holds of an attempt: payload first, then the event. `not_ours`: there is no such action here.
   * @throws {StoreUnavailable} nothing was recorded, or nobody knows
   */
  report(action: ActionId, attempt: number, seen: LoggedTransaction): Promise<'recorded' | 'known' | 'not_ours'>;

  /** The log was read past the place where the transaction of the action must be, and it is not there. */
  reportAbsence(action: ActionId, reason: 'transaction_missing'): Promise<unknown>;

  /** Nobody will ever know: what waits is UNVERIFIABLE. */
  giveUp(action: ActionId, reason: 'decoder_down' | 'slot_invalidated' | 'log_restored'): Promise<unknown>;
}

/** An action that waits for the change log. */
export interface WaitingAction {
  readonly action: ActionId;
  /** Where the log stood right after its commit; null where the answer was lost. */
  readonly commitLsn: string | null;
  /** When its call began, with the database that the connector led to then. */
  readonly startedAt: Timestamp | null;
}

/** The actions of a connector that wait for its change log. One that has its verdict by now may be among them. */
export interface WaitingActions {
  /** One that has just begun to wait may be left out. */
  of(org: OrgId, connector: ConnectorId): Promise<readonly WaitingAction[]>;

  /**
   * All that had begun to wait when it was asked.
   * @throws {StoreUnavailable} nobody can say now
   */
  allOf(org: OrgId, connector: ConnectorId): Promise<readonly WaitingAction[]>;
}

/** What a mark says that was made with the key of this connector, for exactly this transaction. */
export interface ReadMark {
  readonly action: ActionId;
  readonly attempt: number;
}

export interface MarkReader {
  /** Null: nobody with the key made this mark for a transaction of this number. */
  read(mark: string, xid: number): ReadMark | null;
  /** Zeroes the key. It reads nothing more. */
  destroy(): void;
}
