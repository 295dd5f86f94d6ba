import type { JsonObject } from '#libs/crypto';
import {
  failpoint,
  type JobQueue,
  type Logger,
  type Randomness,
  type ActionId,
  type Folded,
} from '../../kernel/index.js';
import type { Claimant } from '../action.commands.js';
import type { Action } from '../action.state.js';
import type { Sharer } from '../fair-shares.js';
import type { FoundByCommit } from './execution.js';

/** Random bytes of a claim token: two claims never meet. */
const CLAIM_BYTES = 16;

/**
 * How an accepted execution begins. Where the accepting process also executes, accept and claim are one append, which
 * saves a commit (docs/adr/0017); elsewhere a worker is told, and finds it again by itself if it was not.
 */
export abstract class ExecutionStarter {
  /** Who claims within the accepting append; null when the execution waits for a worker, or for a place here. */
  abstract claimant(sharer: Sharer): Claimant | null;
  /**
   * The accepting append failed. If it had no clear answer, it `mayStand`: then this process will not run that claim,
   * whatever is found in the log later.
   */
  abstract withdraw(claimant: Claimant, mayStand: boolean): void;
  /** Never waits for the execution itself. */
  abstract start(accepted: Accepted, claimant: Claimant | null): Promise<void>;
}

/** An action that is to be executed, as its accepting append left it. */
export interface Accepted {
  readonly id: ActionId;
  readonly folded: Folded<Action>;
  readonly args: JsonObject;
  /** What the accepting append found; null where it required nothing. */
  readonly found: FoundByCommit | null;
}

export const newClaim = (executor: string, randomness: Randomness): Claimant => ({
  executor,
  claim: Buffer.from(randomness.bytes(CLAIM_BYTES)).toString('hex'),
});

/** Leaves the execution to a worker. */
export class QueuedExecutionStarter extends ExecutionStarter {
  private isQueueAway = false;

  constructor(
    private readonly queue: Pick<JobQueue, 'add'>,
    private readonly logger: Logger,
  ) {
    super();
  }

  override claimant(): null {
    return null;
  }

  override withdraw(): void {
    // Nothing was claimed here.
  }

  override async start({ id }: Pick<Accepted, 'id'>): Promise<void> {
    // The queue is a bell: a sweeper finds what it did not hear.
    try {
      await failpoint('gate.enqueue');
      await this.queue.add('execute', id);
      this.isQueueAway = false;
    } catch (error) {
      // Once for as long as it lasts: at a thousand calls a second the log would hold nothing else.
      const level = this.isQueueAway ? 'debug' : 'warn';
      this.isQueueAway = true;
      this.logger[level]('the queue did not take an execution; a sweeper will', { action_id: id, error });
    }
  }
}
