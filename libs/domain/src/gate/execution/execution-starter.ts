import type { JsonObject } from '#libs/crypto';
import { failpoint, type JobQueue, type Logger, type ActionId, type Folded } from '../../kernel/index.js';
import type { Claimant, Action, FoundByCommit } from '../action/index.js';
import type { Sharer } from './fair-shares.js';

/**
 * Starts an accepted execution. If the accepting process also executes, the claim is in the same append as the
 * submission, which saves a commit (docs/adr/0017). Otherwise a job is queued for a worker; if that job is lost, a
 * sweeper finds the action.
 */
export abstract class ExecutionStarter {
  /**
   * The claim to put into the accepting append. Null if a worker is to run the execution, or if it has to wait for a
   * place in this process.
   */
  abstract claimant(sharer: Sharer): Claimant | null;
  /**
   * Takes a claim back after the accepting append failed.
   * @param mayStand whether the store gave no clear answer, so that the claim may be in the log all the same. This
   *   process then remembers not to run it
   */
  abstract withdraw(claimant: Claimant, mayStand: boolean): void;
  /** Starts the execution and does not wait for its end. */
  abstract start(accepted: Accepted, claimant: Claimant | null): Promise<void>;
}

/** An action to execute, in its state after the accepting append. */
export interface Accepted {
  readonly id: ActionId;
  readonly folded: Folded<Action>;
  readonly args: JsonObject;
  /** What the accepting append has checked, for the send barrier; null if it required no revisions. */
  readonly found: FoundByCommit | null;
}

/** Leaves executions to workers, through the job queue. */
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
    // Nothing to do: this starter makes no claims.
  }

  override async start({ id }: Pick<Accepted, 'id'>): Promise<void> {
    // A lost job only costs time: a sweeper finds the action.
    try {
      await failpoint('gate.enqueue');
      await this.queue.add('execute', id);
      this.isQueueAway = false;
    } catch (error) {
      // Warn once per outage: at a thousand calls a second these warnings would fill the log.
      const level = this.isQueueAway ? 'debug' : 'warn';
      this.isQueueAway = true;
      this.logger[level]('the queue did not take an execution; a sweeper will', { action_id: id, error });
    }
  }
}
