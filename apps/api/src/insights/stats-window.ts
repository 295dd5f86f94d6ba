import { type Timestamp, timestampOf } from '#libs/domain/kernel';

const DAY_MS = 86_400_000;
const DAYS = { '7d': 7, '30d': 30 } as const;

export type StatsWindow = keyof typeof DAYS;
export const STATS_WINDOWS = Object.keys(DAYS) as readonly StatsWindow[];

export interface StatsBounds {
  readonly from: Timestamp;
  /** Exclusive. */
  readonly to: Timestamp;
  /** `2026-10-01`, oldest first; the last one is today and not over. */
  readonly days: readonly string[];
}

/** So many whole days of UTC, of which the last is today. */
export const statsWindowAt = (window: StatsWindow, nowMs: number): StatsBounds => {
  const endMs = (Math.floor(nowMs / DAY_MS) + 1) * DAY_MS;
  const starts = Array.from({ length: DAYS[window] }, (_, index) => endMs - (DAYS[window] - index) * DAY_MS);
  return {
    from: timestampOf(starts[0] as number),
    to: timestampOf(endMs),
    days: starts.map((startMs) => dayOf(timestampOf(startMs))),
  };
};

/** The day of an instant in UTC. */
export const dayOf = (instant: Timestamp): string => instant.slice(0, 10);
