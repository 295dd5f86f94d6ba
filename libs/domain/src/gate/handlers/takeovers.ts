import type { ActionId, Logger } from '../../kernel/index.js';
import type { ExecutionAttempt } from '../action.state.js';
import { FairShares, type Sharer } from '../fair-shares.js';
import type { ActionExecutor } from './action-executor.js';

/** Shared takeovers of one process at once; with the spare ones twice as many. Of one connector at most half of these. */
const TAKEOVERS_MAX = 16;

/**
 * Executions taken over from executors that were lost. A sweep begins them and never waits for them: an upstream may
 * hang, and what stands behind it must not. Room for them is shared as {@link FairShares} says.
 */
export class Takeovers {
  private readonly underWay = new Set<ActionId>();
  private readonly shares = new FairShares(TAKEOVERS_MAX);

  constructor(
    private readonly executor: Pick<ActionExecutor, 'claimAndRun'>,
    private readonly logger: Logger,
  ) {}

  /** False when it is under way already, or when there is no room: the next sweep comes again. */
  begin(sharer: Sharer, id: ActionId, lost: ExecutionAttempt): boolean {
    if (this.underWay.has(id) || !this.shares.take(sharer)) return false;
    this.underWay.add(id);
    this.logger.warn('an execution lost its executor and is taken over', { action_id: id, attempt: lost.attempt });
    void this.run(id, lost).finally(() => {
      this.underWay.delete(id);
      this.shares.giveBack(sharer);
    });
    return true;
  }

  private async run(id: ActionId, lost: ExecutionAttempt): Promise<void> {
    try {
      await this.executor.claimAndRun(id, lost);
    } catch (error) {
      this.logger.error('an execution could not be taken over; the next sweep comes again', { action_id: id, error });
    }
  }
}
