import type { ActionId, Logger } from '../../kernel/index.js';
import type { ExecutionAttempt } from '../action.state.js';
import { FairShares, type Sharer } from '../fair-shares.js';
import type { ActionExecutor } from './action-executor.js';

/** Shared takeovers of one process at once; with the spare ones twice as many. Of one connector at most half of these. */
const TAKEOVERS_MAX = 16;

/**
 * Executions taken over from executors that were lost. A sweep begins them and never waits for them: an upstream may
 * hang, and the executions behind it must not. Room for them is shared as {@link FairShares} says.
 */
export class Takeovers {
  private readonly underWay = new Set<ActionId>();
  private readonly shares = new FairShares(TAKEOVERS_MAX);

  constructor(
    private readonly executor: Pick<ActionExecutor, 'claimAndRun' | 'readBack'>,
    private readonly logger: Logger,
  ) {}

  /** False when it is under way already, or when there is no room: the next sweep comes again. */
  begin(sharer: Sharer, id: ActionId, lost: ExecutionAttempt): boolean {
    const message = 'an execution lost its executor and is taken over';
    const begun = this.start(sharer, id, () => this.executor.claimAndRun(id, lost));
    if (begun) this.logger.warn(message, { action_id: id, attempt: lost.attempt });
    return begun;
  }

  /** The same for a read-back whose reader was lost. */
  beginReadBack(sharer: Sharer, id: ActionId): boolean {
    const message = 'a read-back lost its reader and is taken over';
    const begun = this.start(sharer, id, () => this.executor.readBack(id));
    if (begun) this.logger.warn(message, { action_id: id });
    return begun;
  }

  private start(sharer: Sharer, id: ActionId, work: () => Promise<unknown>): boolean {
    if (this.underWay.has(id) || !this.shares.take(sharer)) return false;
    this.underWay.add(id);
    void this.run(id, work).finally(() => {
      this.underWay.delete(id);
      this.shares.giveBack(sharer);
    });
    return true;
  }

  private async run(id: ActionId, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.error('an execution could not be taken over; the next sweep comes again', { action_id: id, error });
    }
  }
}
