import type { LiveConnector, LoggedTransaction } from '../connectors/index.js';
import type { WitnessTerms } from './witness-terms.js';

/** How the log of a connector is come by: where it is, and as whom. */
export interface WitnessLogin {
  readonly connector: LiveConnector;
  readonly terms: WitnessTerms;
  /** Of the role that may replicate. They live as long as the attempt that they were opened for. */
  readonly username: Uint8Array;
  readonly password: Uint8Array;
}

/** A replication slot, as the database says it is. */
export interface SlotFacts {
  /** `wal_status = lost`: what it had still to send is gone, and it never sends again. */
  readonly isLost: boolean;
  /** Where a reader begins: all before it was acknowledged. `X/Y`; null where the slot has none. */
  readonly confirmed: string | null;
}

/** What a database says of its log, asked over an ordinary connection. */
export interface LogFacts {
  /** In decimal digits. */
  readonly systemId: string;
  readonly timeline: number;
  /** Where the log stands, `X/Y`. */
  readonly head: string;
  /** Null where there is no slot of this name. */
  readonly slot: SlotFacts | null;
}

export interface FollowedLog extends WitnessLogin {
  /** Ends the following. What {@link onTransaction} is about to record is waited for. */
  readonly signal: AbortSignal;
  /** The database sends from now on. */
  onStarted(): void;
  /**
   * A committed transaction, in the order of commits. The next may be given before this resolves. It is acknowledged when
   * this resolves and all before it have, and never before; where it rejects, nothing more is read and `follow` rejects
   * with the same.
   */
  onTransaction(transaction: LoggedTransaction): Promise<void>;
  /** Everything that committed before this place has been given to {@link onTransaction}, and that has resolved. `X/Y`. */
  onPosition(position: string): void;
}

/** Why the following ended. `slot_in_use`: another reader has the slot, for instance the one before this one. */
export type FollowEnd = 'aborted' | 'connection_lost' | 'slot_in_use' | 'slot_invalidated' | 'slot_missing';

/**
 * The change log of a connector's database. Every method rejects with {@link LogUnreachable} where the database does not
 * answer, or refuses the role: whatever the driver said of it stays inside, for it may quote what was sent.
 */
export abstract class ChangeLogSource {
  /** Asked every second while a log is followed: keep the connection for as long as somebody asks. */
  abstract inspect(login: WitnessLogin): Promise<LogFacts>;

  /** Makes the slot of the terms. Nothing happens where there is one. */
  abstract createSlot(login: WitnessLogin): Promise<void>;

  /** Drops the slot of the terms; nothing happens where there is none. `in_use`: another reader has it. */
  abstract dropSlot(login: WitnessLogin): Promise<'dropped' | 'in_use'>;

  abstract follow(log: FollowedLog): Promise<FollowEnd>;

  /** Ends whatever waits for a database that does not answer. Logs that are followed end by their own signals. */
  close(): void {
    // Nothing waits where nothing is dialled.
  }
}
