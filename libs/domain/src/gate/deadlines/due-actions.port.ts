import type { Timestamp } from '../../kernel/index.js';
import type { DueAction } from './due-action.process.js';

/** The table of due actions: a fold of the log, with its checkpoint stored beside the rows. */
export abstract class DueActions {
  /**
   * Actions that are due at `now`, longest overdue first.
   * @param after the last action of the previous page; null for the first page
   */
  abstract dueBy(now: Timestamp, after: DueAction | null, limit: number): Promise<readonly DueAction[]>;
}
