import type { ActionId, AgentId } from '../kernel/index.js';

/** A call of an agent that is about to wait for people. */
export interface WantedPlace {
  readonly agent: AgentId;
  readonly action: ActionId;
  /** Unix milliseconds. */
  readonly reservedMs: number;
  /** So many of the agent's places are held at most, this one included. */
  readonly limit: number;
}

export type HeldPlace = Pick<WantedPlace, 'action' | 'reservedMs'>;

/**
 * The places that calls of one agent hold while they wait for people: rows beside the log, taken before the append of a call that
 * will wait, so that of any number of calls at once none waits beyond the limit. Nobody gives a place back when a person
 * decides: what a row is worth is for the log to say, and it is asked once an agent's places are all taken.
 */
export abstract class ApprovalPlaces {
  /**
   * A call that holds one already holds the same one.
   * @returns false when all of them are taken
   * @throws {StoreUnavailable}
   */
  abstract take(wanted: WantedPlace): Promise<boolean>;
  /** @throws {StoreUnavailable} */
  abstract heldBy(agent: AgentId): Promise<readonly HeldPlace[]>;
  /** @throws {StoreUnavailable} */
  abstract free(agent: AgentId, actions: readonly ActionId[]): Promise<void>;
}
