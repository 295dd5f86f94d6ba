import type { ActionId, Position } from '../kernel/index.js';
import type { Beats } from './executor-silence.js';

export interface ListedExecution {
  readonly action: ActionId;
  /** Where its submission stands in the log: no two are the same. */
  readonly opened: Position;
}

/** The sweeper's own table, a fold of the log with a checkpoint beside its rows. */
export abstract class OpenExecutions {
  /** Those opened after `after`, oldest first. */
  abstract list(after: Position, limit: number): Promise<readonly ListedExecution[]>;
  /**
   * How far the log is in the table: what it holds beyond is not. The start of the log where the table is of another
   * log.
   */
  abstract foldedUpTo(): Promise<Position>;
}

/** One row a process: it shows by a growing number that the process lives. */
export abstract class Liveness {
  abstract beat(executor: string): Promise<void>;
  abstract read(): Promise<Beats>;
  /** Whether any process has beaten within that long, by the clock of the rows: for what is shown, never for recovery. */
  abstract isAnyBeating(withinMs: number): Promise<boolean>;
  /** At a clean shutdown, after the last execution ended. */
  abstract remove(executor: string): Promise<void>;
  /**
   * Removes the rows of processes that ended without a farewell and have not beaten for that long, by the clock of the
   * rows. A row that is gone reads as silence. So a clock that jumps does no harm, and an execution that still names
   * the process comes to no harm.
   * @returns how many rows
   */
  abstract removeForgotten(silentForMs: number): Promise<number>;
}
