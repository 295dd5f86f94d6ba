import type { ActionId, Logger } from '../../kernel/index.js';
import type { ExecutionAttempt } from '../action/index.js';
import { FairShares, type Sharer } from './fair-shares.js';
import type { ActionExecutor } from './action-executor.js';

/**
 * Shared places for takeovers in one process; there are as many spare ones. One connector alone gets half of the shared
 * ones.
 */
const TAKEOVERS_MAX = 16;
/** How many takeovers may wait for a place. The next sweep finds those that do not fit. */
const WAITING_MAX = 1_000;

interface Takeover {
  readonly sharer: Sharer;
  readonly message: string;
  readonly attempt: number | undefined;
  readonly work: () => Promise<unknown>;
  /** Aborted when this process stops and must start nothing more. */
  readonly signal: AbortSignal | undefined;
}

/**
 * Takes over executions and read-backs whose executor is gone, and asks what became of those that cannot be taken over. A sweep starts takeovers and does not wait for them,
 * because an upstream may hang. Places are shared as {@link FairShares} says. A takeover without a place starts when a
 * place is given back; if it had to wait for the next sweep, each sweep could recover only one placeful of a connector,
 * however fast its calls are. Both kinds of work load the action again before they do anything.
 */
export class Takeovers {
  private readonly underWay = new Set<ActionId>();
  /** In the order of arrival. */
  private readonly waiting = new Map<ActionId, Takeover>();
  private readonly shares = new FairShares(TAKEOVERS_MAX);

  constructor(
    private readonly executor: Pick<ActionExecutor, 'claimAndRun' | 'readBack'>,
    private readonly logger: Logger,
  ) {}

  /** Starts a takeover; false if it is already under way or has to wait for a place. */
  begin(sharer: Sharer, id: ActionId, lost: ExecutionAttempt, signal?: AbortSignal): boolean {
    return this.start(id, {
      sharer,
      message: 'an execution lost its executor and is taken over',
      attempt: lost.attempt,
      work: () => this.executor.claimAndRun(id, lost),
      signal,
    });
  }

  /** The same for a read-back whose process is gone. */
  beginReadBack(sharer: Sharer, id: ActionId, signal?: AbortSignal): boolean {
    return this.start(id, {
      sharer,
      message: 'a read-back lost its reader and is taken over',
      attempt: undefined,
      work: () => this.executor.readBack(id),
      signal,
    });
  }

  /** The same for an execution that may not be repeated: it is ended, by what is found out about it. */
  beginSettling(sharer: Sharer, id: ActionId, work: () => Promise<void>, signal?: AbortSignal): boolean {
    const message = 'an execution lost its executor, and the system is asked what became of it';
    return this.start(id, { sharer, message, attempt: undefined, work, signal });
  }

  private start(id: ActionId, takeover: Takeover): boolean {
    if (this.underWay.has(id)) return false;
    if (!this.shares.take(takeover.sharer)) {
      // The newer takeover replaces the older: the action may have needed an execution first and need a read-back now.
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
