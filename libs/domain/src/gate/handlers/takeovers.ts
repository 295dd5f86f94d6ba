import type { ActionId, Logger } from '../../kernel/index.js';
import type { ExecutionAttempt } from '../action.state.js';
import { FairShares, type Sharer } from '../fair-shares.js';
import type { ActionExecutor } from './action-executor.js';

/** Shared takeovers of one process at once; with the spare ones twice as many. Of one connector at most half of these. */
const TAKEOVERS_MAX = 16;
/** Takeovers that wait for room; of more than that the next sweep begins those that are left. */
const WAITING_MAX = 1_000;

interface Takeover {
  readonly sharer: Sharer;
  readonly message: string;
  readonly attempt: number | undefined;
  readonly work: () => Promise<unknown>;
  /** Aborted when this process takes up nothing more. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Executions taken over from executors that were lost. A sweep begins them and never waits for them: an upstream may
 * hang, and the executions behind it must not. Room for them is shared as {@link FairShares} says. What finds none waits for
 * the first that is given back and not for the next sweep: else so many of a connector were recovered in each sweep, however
 * quick they are. Both kinds look at the action again when they begin.
 */
export class Takeovers {
  private readonly underWay = new Set<ActionId>();
  /** In the order in which they came. */
  private readonly waiting = new Map<ActionId, Takeover>();
  private readonly shares = new FairShares(TAKEOVERS_MAX);

  constructor(
    private readonly executor: Pick<ActionExecutor, 'claimAndRun' | 'readBack'>,
    private readonly logger: Logger,
  ) {}

  /** False when it is under way already, or has to wait for room. */
  begin(sharer: Sharer, id: ActionId, lost: ExecutionAttempt, signal?: AbortSignal): boolean {
    return this.start(id, {
      sharer,
      message: 'an execution lost its executor and is taken over',
      attempt: lost.attempt,
      work: () => this.executor.claimAndRun(id, lost),
      signal,
    });
  }

  /** The same for a read-back whose reader was lost. */
  beginReadBack(sharer: Sharer, id: ActionId, signal?: AbortSignal): boolean {
    return this.start(id, {
      sharer,
      message: 'a read-back lost its reader and is taken over',
      attempt: undefined,
      work: () => this.executor.readBack(id),
      signal,
    });
  }

  private start(id: ActionId, takeover: Takeover): boolean {
    if (this.underWay.has(id)) return false;
    if (!this.shares.take(takeover.sharer)) {
      // The newest word about it: it may have been an execution, and be a read-back now.
      if (this.waiting.has(id) || this.waiting.size < WAITING_MAX) this.waiting.set(id, takeover);
      return false;
    }
    this.waiting.delete(id);
    this.underWay.add(id);
    const { message, attempt, sharer } = takeover;
    this.logger.warn(message, attempt === undefined ? { action_id: id } : { action_id: id, attempt });
    void this.run(id, takeover.work).finally(() => {
      this.underWay.delete(id);
      this.shares.giveBack(sharer);
      this.startWaiting();
    });
    return true;
  }

  private startWaiting(): void {
    for (const [id, takeover] of this.waiting) {
      if (takeover.signal?.aborted) this.waiting.delete(id);
      else if (this.start(id, takeover)) return;
    }
  }

  private async run(id: ActionId, work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.error('an execution could not be taken over; the next sweep comes again', { action_id: id, error });
    }
  }
}
