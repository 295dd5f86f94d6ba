import type { ActionId, AgentId } from '../../kernel/index.js';

/** A call of an agent that is about to wait for people. */
export interface WantedPlace {
  readonly agent: AgentId;
  readonly action: ActionId;
  /** When the place was reserved, in Unix milliseconds. */
  readonly reservedMs: number;
  /** The most places that calls of the agent may hold, this one included. */
  readonly limit: number;
}

export type HeldPlace = Pick<WantedPlace, 'action' | 'reservedMs'>;

/**
 * A place is a row that a call of an agent takes before the append if it is going to wait for approval. The limit on
 * places therefore bounds the number of waiting calls, even if many arrive at once. Places are not given back when a
 * person decides. Only when all places of an agent are taken, the caller asks the log which of their actions still
 * wait, and frees the others.
 */
export abstract class ApprovalPlaces {
  /**
   * Takes a place. If the call holds one already, it keeps that one, even if fewer are allowed by now.
   * @returns false if all places are taken by other calls
   * @throws {StoreUnavailable}
   */
  abstract take(wanted: WantedPlace): Promise<boolean>;
  /**
   * The places of the agent, oldest first.
   * @throws {StoreUnavailable}
   */
  abstract heldBy(agent: AgentId): Promise<readonly HeldPlace[]>;
  /**
   * Frees the places of these actions, as far as the agent holds them.
   * @throws {StoreUnavailable}
   */
  abstract free(agent: AgentId, actions: readonly ActionId[]): Promise<void>;
}
