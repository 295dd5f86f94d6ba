import type { OpenExecution } from './execution.process.js';
import type { Beats } from './executor-silence.js';

/** The sweeper's own table, a fold of the log with a checkpoint beside its rows. */
export abstract class OpenExecutions {
  /** Oldest first. */
  abstract list(limit: number): Promise<readonly OpenExecution[]>;
}

/** One row a process: it shows by a growing number that the process lives. */
export abstract class Liveness {
  abstract beat(executor: string): Promise<void>;
  abstract read(): Promise<Beats>;
  /** At a clean shutdown, after the last execution ended. */
  abstract remove(executor: string): Promise<void>;
}
