import type { Timestamp } from '../kernel/index.js';
import type { DueAction } from './due-action.process.js';

/** The table of what comes due, a fold of the log with a checkpoint beside its rows. */
export abstract class DueActions {
  /**
   * Whose time is over by `now`, the longest first.
   * @param after the last one of the page before; null for the first page
   */
  abstract dueBy(now: Timestamp, after: DueAction | null, limit: number): Promise<readonly DueAction[]>;
}
