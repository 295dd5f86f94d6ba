import type { ProjectionName } from './projection-checkpoint.row.js';

/** What the rebuild program says on standard output, one JSON object a line. */
export type RebuildReport =
  | {
      readonly type: 'progress';
      readonly projection: ProjectionName;
      readonly events: number;
      /** Of the log as it was when the rebuild began, 0 to 1: an estimate. */
      readonly share: number;
    }
  | {
      readonly type: 'rebuilt';
      readonly projection: ProjectionName;
      readonly events: number;
      readonly duration_ms: number;
    }
  /** Of the projection under way; those before it are rebuilt, its own rows are as they were. */
  | { readonly type: 'failed'; readonly projection: ProjectionName; readonly message: string }
  | { readonly type: 'interrupted'; readonly projection: ProjectionName }
  /** Nothing was touched. */
  | { readonly type: 'busy' };
