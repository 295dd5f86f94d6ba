import type { ActionId, Logger } from '../../kernel/index.js';
import { FairShares, type Sharer } from './fair-shares.js';
import { type Turn, WaitingTurns } from './waiting-turns.js';
import type { ActionExecutor } from './action-executor.js';

/**
 * Shared places of one process; there are as many spare ones. Each execution waits for an upstream and may hold 1 MiB
 * of its answer.
 */
const PLACES_MAX = 128;
/**
 * How many action ids may wait for a place, at most half of them of one connector. Only ids are kept, and the sweeper
 * finds the actions that do not fit.
 */
const WAITING_MAX = 20_000;

/**
 * The places of a process for executions, shared as {@link FairShares} says, so that hanging upstreams leave room for
 * the other connectors of their organization and for other organizations. An execution without a place waits, and
 * starts as soon as its connector may take one.
 */
export class ExecutionPlaces {
  private readonly shares: FairShares;
  private readonly waiting = new WaitingTurns(WAITING_MAX);
  private isClosed = false;

  constructor(
    private readonly executor: Pick<ActionExecutor, 'claimAndRun' | 'sharerOf'>,
    private readonly logger: Logger,
    placesMax = PLACES_MAX,
  ) {
    this.shares = new FairShares(placesMax);
  }

  /** Runs the action's execution, or queues it for a place. Resolves when it is over or queued. */
  async takeUp(id: ActionId): Promise<void> {
    const sharer = await this.executor.sharerOf(id);
    if (sharer === null) return;
    if (this.take(sharer)) await this.run({ sharer, id });
    else if (!this.isClosed) this.waiting.add(sharer, id);
  }

  /** Takes a place; false if there is none. The caller returns it by `giveBack`. */
  take(sharer: Sharer): boolean {
    return this.shares.take(sharer);
  }

  giveBack(sharer: Sharer): void {
    this.shares.giveBack(sharer);
    this.beginWaiting();
  }

  /** From now on no waiting execution is started here; they are left to other processes. */
  close(): void {
    this.isClosed = true;
  }

  private beginWaiting(): void {
    while (!this.isClosed) {
      const turn = this.waiting.takeNext(this.shares);
      if (turn === null) return;
      this.run(turn).catch((error: unknown) => {
        this.logger.error('an execution that waited failed; it is left to the sweeper', { action_id: turn.id, error });
      });
    }
  }

  private async run({ sharer, id }: Turn): Promise<void> {
    try {
      await this.executor.claimAndRun(id, null);
    } finally {
      this.giveBack(sharer);
    }
  }
}
