export interface ProjectionSettings {
  /** Events of one transaction at most. */
  readonly batchSize: number;
  /** Waited after a wake-up, so that the projections' transactions stay few beside the appends that people wait for. */
  readonly lingerMs: number;
  /** A checkpoint that moves without rows is written this much later, with all that moved meanwhile. */
  readonly saveIntervalMs: number;
  /** A projection that has run this long without failing is well again. */
  readonly settledAfterMs: number;
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
}

/**
 * Large batches: one transaction for each event would not keep up with the appends. A much longer linger: a list that
 * waits ends it at once, and most actions begin and end within it, so that under load their rows are written once
 * instead of read and written again.
 */
export const PROJECTION_DEFAULTS: ProjectionSettings = {
  batchSize: 1_000,
  lingerMs: 250,
  saveIntervalMs: 500,
  settledAfterMs: 1_000,
  firstRetryMs: 200,
  longestRetryMs: 5_000,
};
