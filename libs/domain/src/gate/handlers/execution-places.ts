import type { ActionId, Logger } from '../../kernel/index.js';
import { FairShares, type Sharer } from '../fair-shares.js';
import { type Turn, WaitingTurns } from '../waiting-turns.js';
import type { ActionExecutor } from './action-executor.js';

/**
 * Shared executions of one process at once; with the spare ones twice as many. Each waits for an upstream and may hold
 * 1 MiB of its answer.
 */
const PLACES_MAX = 128;
/** Ids that may wait: ids alone, and of one connector at most half. What does not fit is found again by the sweeper. */
const WAITING_MAX = 20_000;

/**
 * The places of a process for executions, shared as {@link FairShares} says: upstreams that hang leave room for the other
 * connectors of their organization and for every other organization. What finds no place waits without holding one, and
 * nothing waits that may take one.
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

  /** Resolves when the execution is over, or waits for a place. */
  async takeUp(id: ActionId): Promise<void> {
    const sharer = await this.executor.sharerOf(id);
    if (sharer === null) return;
    if (this.take(sharer)) await this.run({ sharer, id });
    else if (!this.isClosed) this.waiting.add(sharer, id);
  }

  /** Whoever was given a place gives it back. */
  take(sharer: Sharer): boolean {
    return this.shares.take(sharer);
  }

  giveBack(sharer: Sharer): void {
    this.shares.giveBack(sharer);
    this.beginWaiting();
  }

  /** Begins nothing that waits: it is left to other processes. */
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
