import type { EventStore, Position } from '#libs/domain/kernel';
import type { ProjectionName } from './projection-checkpoint.row.js';
import type { ProjectionProgress } from './projection-progress.js';

/** How long a list waits for its rows. */
export const READ_YOUR_WRITES_TIMEOUT_MS = 2_000;

/** A lag is counted up to here; whoever is further behind is told this number. */
export const LAG_COUNT_LIMIT = 1_000;
/** Events may be large, and a projection that lags is no reason to read many at once. */
const LAG_PAGE_SIZE = 100;

export interface CaughtUp {
  /** Events of the log that the rows do not tell yet: 0 when they are current, at most {@link LAG_COUNT_LIMIT}. */
  readonly lagEvents: number;
}

/** Read your own writes (INV-17): a list shows everything that was in the log when it was asked for. */
export class ProjectionWaiter {
  constructor(
    private readonly store: EventStore,
    private readonly progress: ProjectionProgress,
    private readonly timeoutMs = READ_YOUR_WRITES_TIMEOUT_MS,
  ) {}

  /** Waits until all `names` have the log as it stands now, at most 2 s; then says how far the last of them is behind. */
  async catchUp(names: readonly ProjectionName[]): Promise<CaughtUp> {
    const head = await this.store.head();
    const reached = await Promise.all(names.map((name) => this.progress.reach(name, head, this.timeoutMs)));
    const last = reached.reduce((least, position) => (position < least ? position : least), head);
    return { lagEvents: last >= head ? 0 : await this.countEvents(last, head) };
  }

  /** Positions are opaque, so events are counted by reading them. */
  private async countEvents(after: Position, upTo: Position): Promise<number> {
    let count = 0;
    for (let from = after; count < LAG_COUNT_LIMIT;) {
      const events = await this.store.readAll(from, LAG_PAGE_SIZE);
      count += events.filter(({ position }) => position <= upTo).length;
      const last = events.at(-1)?.position;
      if (last === undefined || last >= upTo) break;
      from = last;
    }
    return count;
  }
}
