import { type Timestamp, timestampOf } from '#libs/domain/kernel';

const HOUR_MS = 3_600_000;

/** Of GET /v1/overview: how many buckets of how many hours (rule INSIGHT-2). */
const WINDOWS = { '24h': { buckets: 24, hours: 1 }, '7d': { buckets: 28, hours: 6 } } as const;

export type OverviewWindow = keyof typeof WINDOWS;
export const OVERVIEW_WINDOWS = Object.keys(WINDOWS) as readonly OverviewWindow[];

export interface WindowBounds {
  readonly from: Timestamp;
  /** Exclusive. */
  readonly to: Timestamp;
  /** The first instant of each bucket, oldest first. */
  readonly starts: readonly Timestamp[];
}

/** The window that ends with the first boundary of a bucket at or after now, in UTC. */
export const windowAt = (window: OverviewWindow, nowMs: number): WindowBounds => {
  const { buckets, hours } = WINDOWS[window];
  const bucketMs = hours * HOUR_MS;
  return boundsUntil(Math.ceil(nowMs / bucketMs) * bucketMs, buckets, bucketMs);
};

/** The window before, as long. */
export const windowBefore = (window: OverviewWindow, { from }: WindowBounds): WindowBounds => {
  const { buckets, hours } = WINDOWS[window];
  return boundsUntil(Date.parse(from), buckets, hours * HOUR_MS);
};

const boundsUntil = (toMs: number, buckets: number, bucketMs: number): WindowBounds => {
  const starts = Array.from({ length: buckets }, (_, index) => timestampOf(toMs - (buckets - index) * bucketMs));
  return { from: starts[0] as Timestamp, to: timestampOf(toMs), starts };
};
