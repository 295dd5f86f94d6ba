import type { ActionId, Position } from '../../kernel/index.js';
import type { Beats } from './executor-silence.js';

export interface ListedExecution {
  readonly action: ActionId;
  /** The position of its submission in the log, which is unique. */
  readonly opened: Position;
}

/** The table of open executions: a fold of the log, with its checkpoint stored beside the rows. */
export abstract class OpenExecutions {
  /** Open executions whose position is after `after`, oldest first. */
  abstract list(after: Position, limit: number): Promise<readonly ListedExecution[]>;
  /**
   * The position up to which the log is folded into the table. The start of the log if the table belongs to another
   * log.
   */
  abstract foldedUpTo(): Promise<Position>;
}

/** One row per process, with a number that grows while the process lives. */
export abstract class Liveness {
  abstract beat(executor: string): Promise<void>;
  abstract read(): Promise<Beats>;
  /**
   * Whether any process has beaten within that time, by the database's clock. For display only; recovery must not use
   * it.
   */
  abstract isAnyBeating(withinMs: number): Promise<boolean>;
  /** Removes the row at a clean shutdown, after the last execution has ended. */
  abstract remove(executor: string): Promise<void>;
  /**
   * Removes the rows of processes that crashed and have not beaten for that time, by the database's clock. That is
   * harmless: a missing row counts as silence, so executions of the crashed process are recovered all the same. If a
   * clock jumped and the process lives, its next beat writes the row again.
   * @returns the number of rows
   */
  abstract removeForgotten(silentForMs: number): Promise<number>;
}
