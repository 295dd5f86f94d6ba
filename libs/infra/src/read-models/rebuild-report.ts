import type { ProjectionName } from './projection-checkpoint.row.js';
import type { RowDifference } from './row-comparison.js';

/** What the rebuild program is told to do with each projection. */
export type RebuildTask = 'rebuild' | 'verify';

/** What the rebuild program says on standard output, one JSON object a line. */
export type RebuildReport =
  | {
      readonly type: 'progress';
      readonly projection: ProjectionName;
      readonly events: number;
      /** Of the log as it was when the work began, 0 to 1: an estimate. */
      readonly share: number;
    }
  | {
      readonly type: 'comparing';
      readonly projection: ProjectionName;
      readonly rows: number;
      /** Of the rows that there must be, 0 to 1. */
      readonly share: number;
    }
  | {
      readonly type: 'rebuilt';
      readonly projection: ProjectionName;
      readonly events: number;
      readonly duration_ms: number;
    }
  | {
      readonly type: 'verified';
      readonly projection: ProjectionName;
      readonly events: number;
      /** At which the rows were compared; -1 before the first event. */
      readonly position: number;
      readonly rows: number;
      readonly difference_count: number;
      /** The first of them. */
      readonly differences: readonly RowDifference[];
      readonly duration_ms: number;
    }
  /** Of the projection under way; its rows are as they were. Behind it a verification goes on, and a rebuild ends. */
  | { readonly type: 'failed'; readonly projection: ProjectionName; readonly message: string }
  /** For want of the event at this position, which every projection that is still to come would lack: nothing goes on. */
  | { readonly type: 'incomplete'; readonly projection: ProjectionName; readonly missing: number }
  | { readonly type: 'interrupted'; readonly projection: ProjectionName }
  /** Nothing was touched. */
  | { readonly type: 'busy' };
