import type { ActionId, Logger, OrgId } from '../../kernel/index.js';
import type { ActionExecutor } from './action-executor.js';

/** Executions of one process at once. Each waits for an upstream and may hold 1 MiB of its answer. */
const PLACES_MAX = 128;
/** Ids alone; what does not fit is found again by the sweeper. */
const WAITING_MAX_OF_ORG = 10_000;

/**
 * The places of a process for executions. An organization may take one while it has fewer than are free: alone it has
 * half of them, and upstreams of it that hang leave room for every other. What finds no place waits without holding one.
 */
export class ExecutionPlaces {
  private readonly taken = new Map<OrgId, number>();
  /** In the order in which organizations have their turn, and their actions theirs. */
  private readonly waiting = new Map<OrgId, Set<ActionId>>();
  private isClosed = false;

  constructor(
    private readonly executor: Pick<ActionExecutor, 'claimAndRun' | 'orgOf'>,
    private readonly logger: Logger,
    private readonly placesMax = PLACES_MAX,
  ) {}

  /** Resolves when the execution is over, or waits for a place. */
  async takeUp(id: ActionId): Promise<void> {
    const org = await this.executor.orgOf(id);
    if (org === null) return;
    if (this.take(org)) await this.run(org, id);
    else this.wait(org, id);
  }

  /** Whoever was given a place gives it back. */
  take(org: OrgId): boolean {
    if (!this.hasRoom(org)) return false;
    this.taken.set(org, this.takenBy(org) + 1);
    return true;
  }

  giveBack(org: OrgId): void {
    const left = this.takenBy(org) - 1;
    if (left > 0) this.taken.set(org, left);
    else this.taken.delete(org);
    this.beginWaiting();
  }

  /** Begins nothing that waits: it is left to other processes. */
  close(): void {
    this.isClosed = true;
    this.waiting.clear();
  }

  private hasRoom(org: OrgId): boolean {
    const free = this.placesMax - [...this.taken.values()].reduce((sum, count) => sum + count, 0);
    return this.takenBy(org) < free;
  }

  private takenBy(org: OrgId): number {
    return this.taken.get(org) ?? 0;
  }

  private wait(org: OrgId, id: ActionId): void {
    if (this.isClosed) return;
    const ofOrg = this.waiting.get(org) ?? new Set();
    if (ofOrg.size < WAITING_MAX_OF_ORG) ofOrg.add(id);
    this.waiting.set(org, ofOrg);
  }

  private beginWaiting(): void {
    if (this.isClosed) return;
    for (const [org, ids] of [...this.waiting]) {
      const [id] = ids;
      if (id === undefined || !this.take(org)) continue;
      ids.delete(id);
      // The next place is another organization's, where one waits.
      this.waiting.delete(org);
      if (ids.size > 0) this.waiting.set(org, ids);
      this.run(org, id).catch((error: unknown) => {
        this.logger.error('an execution that waited failed; it is left to the sweeper', { action_id: id, error });
      });
    }
  }

  private async run(org: OrgId, id: ActionId): Promise<void> {
    try {
      await this.executor.claimAndRun(id, null);
    } finally {
      this.giveBack(org);
    }
  }
}
