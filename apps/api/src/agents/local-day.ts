/** A day as a time zone counts it: its date, and from when on it lasts. */
export interface LocalDay {
  /** `2026-10-01` */
  readonly day: string;
  /** Unix milliseconds of its first instant. */
  readonly sinceMs: number;
}

/** No day began as long ago: even one that a zone repeats, on its way over the date line, has ended by then. */
const LONGEST_MS = 50 * 3_600_000;

/**
 * The day that it is. Its first instant is searched for rather than calculated: midnight is not in every day, where clocks
 * go forward at 0:00, and lasts no fixed number of hours.
 */
export const localDayAt = (timeZone: string, nowMs: number): LocalDay => {
  const dateAt = dateReader(timeZone);
  const day = dateAt(nowMs);
  let [before, sinceMs] = [nowMs - LONGEST_MS, nowMs];
  while (sinceMs - before > 1) {
    const middle = Math.floor((before + sinceMs) / 2);
    if (dateAt(middle) < day) before = middle;
    else sinceMs = middle;
  }
  return { day, sinceMs };
};

const dateReader = (timeZone: string): ((epochMs: number) => string) => {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  return (epochMs) => {
    const parts = new Map(format.formatToParts(epochMs).map(({ type, value }) => [type, value]));
    return [parts.get('year'), parts.get('month'), parts.get('day')].join('-');
  };
};
