import { failpoint, type JobQueue, type Logger, type Randomness } from '../../kernel/index.js';
import type { Claimant } from '../action/index.js';
import { newClaim } from '../sending/index.js';
import type { Sharer } from './fair-shares.js';
import type { ActionExecutor } from './action-executor.js';
import type { ExecutionPlaces } from './execution-places.js';
import { type Accepted, ExecutionStarter, QueuedExecutionStarter } from './execution-starter.js';

export interface InlineExecutions {
  readonly executor: ActionExecutor;
  readonly places: ExecutionPlaces;
  /** For executions that find no place. */
  readonly queue: JobQueue;
}

/**
 * Executes in the accepting process: the claim is in the same append as the submission, and the arguments need not be
 * read again. If the connector has no free place, the action is accepted all the same, and waits for one.
 */
export class InlineExecutionStarter extends ExecutionStarter {
  private readonly later: QueuedExecutionStarter;
  /** The takers of places, by claim. */
  private readonly taken = new Map<string, Sharer>();

  constructor(
    private readonly runs: InlineExecutions,
    private readonly executorId: string,
    private readonly randomness: Randomness,
    private readonly logger: Logger,
  ) {
    super();
    this.later = new QueuedExecutionStarter(runs.queue, logger);
  }

  override claimant({ org, connector }: Sharer): Claimant | null {
    const sharer = { org, connector };
    if (!this.runs.places.take(sharer)) return null;
    const claimant = newClaim(this.executorId, this.randomness);
    this.taken.set(claimant.claim, sharer);
    return claimant;
  }

  override withdraw(claimant: Claimant, mayStand: boolean): void {
    if (mayStand) this.runs.executor.withdraw(claimant.claim);
    this.giveBack(claimant);
  }

  override start(accepted: Accepted, claimant: Claimant | null): Promise<void> {
    if (claimant === null) return this.later.start(accepted);
    this.run(accepted, claimant)
      .catch((error: unknown) => {
        // The claim stays in the log. The executor has marked it as dropped, so that a sweeper ends the execution.
        this.logger.error('an execution could not be recorded', { action_id: accepted.id, error });
      })
      .finally(() => this.giveBack(claimant));
    return Promise.resolve();
  }

  private async run(accepted: Accepted, { claim }: Claimant): Promise<void> {
    try {
      await failpoint('gate.enqueue');
    } catch (error) {
      this.runs.executor.withdraw(claim);
      throw error;
    }
    await this.runs.executor.run(accepted);
  }

  private giveBack({ claim }: Claimant): void {
    const sharer = this.taken.get(claim);
    this.taken.delete(claim);
    if (sharer !== undefined) this.runs.places.giveBack(sharer);
  }
}
