import { Temporal } from 'temporal-polyfill';
import { RecentlyUsed } from './recently-used.js';
import { timestampOf } from './timestamp.js';

export const PERIOD_KINDS = ['hour', 'day', 'week', 'month'] as const;
export type PeriodKind = (typeof PERIOD_KINDS)[number];

/** An hour, day, week or month as a time zone counts it. */
export interface LocalPeriod {
  /**
   * The name of the period: `day:2026-10-01`, `week:2026-W40`, `month:2026-10`, or for an hour its first instant,
   * `hour:2026-10-01T08:00:00.000Z`.
   */
  readonly label: string;
  /** Unix milliseconds of the first instant of the period. */
  readonly startsMs: number;
  /** Unix milliseconds of the first instant after the period. */
  readonly endsMs: number;
}

/**
 * The period in which an instant lies. Its borders come from the rules of the time zone: a day has 23 or 25 hours if
 * clocks change, begins at one o'clock if they change at midnight, and may be missing altogether. Weeks begin on Monday
 * (ISO 8601). An hour begins when local clocks show a full hour, and always has sixty minutes.
 * @throws {RangeError} when the time zone is unknown
 */
export const localPeriodAt = (kind: PeriodKind, timeZone: string, nowMs: number): LocalPeriod => {
  const name = `${kind} ${timeZone}`;
  const known = recent.get(name);
  if (known !== undefined && known.startsMs <= nowMs && nowMs < known.endsMs) return known;
  const period = calculated(kind, timeZone, nowMs);
  recent.set(name, period, 1);
  return period;
};

/**
 * A cache of periods. Calculating one takes about as long as a decision of the gate, and the result is valid until the
 * period ends.
 */
const recent = new RecentlyUsed<LocalPeriod>({ entries: 1_000, weight: 1_000 });

const HOUR_MS = 3_600_000;

const calculated = (kind: PeriodKind, timeZone: string, nowMs: number): LocalPeriod => {
  const now = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone);
  if (kind === 'hour') return hourAt(nowMs, now.offsetNanoseconds / 1_000_000);
  const today = now.toPlainDate();
  switch (kind) {
    case 'day':
      return between(`day:${today.toString()}`, today, { days: 1 }, timeZone);
    case 'week': {
      const monday = today.subtract({ days: today.dayOfWeek - 1 });
      const week = String(today.weekOfYear).padStart(2, '0');
      return between(`week:${today.yearOfWeek}-W${week}`, monday, { weeks: 1 }, timeZone);
    }
    case 'month':
      return between(`month:${today.toPlainYearMonth().toString()}`, today.with({ day: 1 }), { months: 1 }, timeZone);
  }
};

const between = (
  label: string,
  first: Temporal.PlainDate,
  length: Temporal.DurationLike,
  timeZone: string,
): LocalPeriod => ({
  label,
  startsMs: firstInstantOf(first, timeZone),
  endsMs: firstInstantOf(first.add(length), timeZone),
});

/** The first instant of a date in the zone; if the zone skips that date, the first instant after the gap. */
const firstInstantOf = (date: Temporal.PlainDate, timeZone: string): number =>
  date.toZonedDateTime(timeZone).epochMilliseconds;

const hourAt = (nowMs: number, offsetMs: number): LocalPeriod => {
  const startsMs = Math.floor((nowMs + offsetMs) / HOUR_MS) * HOUR_MS - offsetMs;
  return { label: `hour:${timestampOf(startsMs)}`, startsMs, endsMs: startsMs + HOUR_MS };
};
