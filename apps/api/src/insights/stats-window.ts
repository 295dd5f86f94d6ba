import { localPeriodAt, type Timestamp, timestampOf } from '#libs/domain/kernel';

const HOUR_MS = 3_600_000;
const DAYS = { '7d': 7, '30d': 30 } as const;

export type StatsWindow = keyof typeof DAYS;
export const STATS_WINDOWS = Object.keys(DAYS) as readonly StatsWindow[];

/** A stretch of time, its end exclusive. */
interface Span {
  readonly from: Timestamp;
  readonly to: Timestamp;
}

export interface StatsDay extends Span {
  /** `2026-10-01` */
  readonly day: string;
}

export interface StatsBounds extends Span {
  /** Oldest first; the last one is today and not over. */
  readonly days: readonly StatsDay[];
}

/** So many days as a time zone counts them, of which the last is today. One has 23 or 25 hours where clocks change. */
export const statsWindowAt = (window: StatsWindow, timeZone: string, nowMs: number): StatsBounds => {
  const days: StatsDay[] = [];
  let atMs = nowMs;
  while (days.length < DAYS[window]) {
    const { label, startsMs, endsMs } = localPeriodAt('day', timeZone, atMs);
    days.unshift({ day: label.slice('day:'.length), from: timestampOf(startsMs), to: timestampOf(endsMs) });
    atMs = startsMs - 1;
  }
  return { from: (days[0] as StatsDay).from, to: (days.at(-1) as StatsDay).to, days };
};

export interface CountedSpans {
  /** Begins and ends with an hour of UTC. */
  readonly whole: Span;
  /** First instants of hours within `whole` that a border splits: their counts say nothing. */
  readonly splitHours: ReadonlySet<Timestamp>;
  /** What those hours have on either side of the border, and what of the window lies outside of `whole`. */
  readonly parts: readonly Span[];
}

/**
 * How a window is counted by the hours of UTC. Only an hour that a border splits is counted in parts: in zones whose clocks
 * differ from UTC by half or a quarter of an hour.
 * @param isByDay whether each border of a day matters, or only those of the window
 */
export const countedSpans = ({ from, to, days }: StatsBounds, isByDay: boolean): CountedSpans => {
  const [fromMs, toMs] = [Date.parse(from), Date.parse(to)];
  const borders = isByDay ? [...days.map((day) => Date.parse(day.from)), toMs] : [fromMs, toMs];
  const splitHours = new Set<Timestamp>();
  const parts: Span[] = [];
  for (const borderMs of borders) {
    const hourMs = Math.floor(borderMs / HOUR_MS) * HOUR_MS;
    if (hourMs === borderMs) continue;
    splitHours.add(timestampOf(hourMs));
    const border = timestampOf(borderMs);
    if (borderMs > fromMs) parts.push({ from: timestampOf(hourMs), to: border });
    if (borderMs < toMs) parts.push({ from: border, to: timestampOf(hourMs + HOUR_MS) });
  }
  const whole = {
    from: timestampOf(Math.ceil(fromMs / HOUR_MS) * HOUR_MS),
    to: timestampOf(Math.floor(toMs / HOUR_MS) * HOUR_MS),
  };
  return { whole, splitHours, parts };
};
