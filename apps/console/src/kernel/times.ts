/** Formats times as absolute, in the organization's zone. Only the time left until a deadline is shown as relative. */
export class Times {
  private readonly zone: string;
  private readonly clock: Intl.DateTimeFormat;
  private readonly day: Intl.DateTimeFormat;
  private readonly whole: Intl.DateTimeFormat;
  private readonly parts: Intl.DateTimeFormat;

  /**
   * @param zone an IANA name; a zone that this browser does not know is replaced by UTC, which `zoneName` then shows
   */
  constructor(zone: string) {
    this.zone = isKnown(zone) ? zone : 'UTC';
    const of = (options: Intl.DateTimeFormatOptions) =>
      new Intl.DateTimeFormat('en-GB', { timeZone: this.zone, hourCycle: 'h23', ...options });
    this.clock = of({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
    this.day = of({ day: 'numeric', month: 'short', year: 'numeric' });
    this.parts = of({
      ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
      ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
    });
    this.whole = of({
      ...{ day: 'numeric', month: 'short', year: 'numeric' },
      ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3 },
      timeZoneName: 'longOffset',
    });
  }

  /** `Vienna, GMT+1`, as the navigation rail shows it. */
  zoneName(atMs: number): string {
    const place = this.zone.split('/').at(-1)?.replaceAll('_', ' ') ?? this.zone;
    const offset = new Intl.DateTimeFormat('en-GB', { timeZone: this.zone, timeZoneName: 'shortOffset' })
      .formatToParts(atMs)
      .find(({ type }) => type === 'timeZoneName')?.value;
    return offset === undefined || place === 'UTC' ? place : `${place}, ${offset}`;
  }

  /** `19:04:56` if it is on the same day as `nowMs`, else with the day: `26 Nov 2026, 19:04:56`. */
  short(at: string, nowMs: number): string {
    const ms = Date.parse(at);
    const day = this.day.format(ms);
    return day === this.day.format(nowMs) ? this.clock.format(ms) : `${day}, ${this.clock.format(ms)}`;
  }

  /** `19:00`, for the axis of a chart. */
  hour(at: string): string {
    return this.clock.format(Date.parse(at)).slice(0, 5);
  }

  /** `2026-11-26T19:04` in the zone: the value of a `datetime-local` field. */
  local(at: string): string {
    return new Date(this.wallMs(Date.parse(at))).toISOString().slice(0, 16);
  }

  /**
   * The instant of a `datetime-local` value in the zone; null if the value is not a time. An hour that occurs twice,
   * when clocks are set back, gives one of its two instants.
   */
  instantOf(local: string): string | null {
    const wall = Date.parse(`${local}Z`);
    if (Number.isNaN(wall)) return null;
    const near = wall - (this.wallMs(wall) - wall);
    // The clocks may be changed between `near` and `wall`, so the offset is taken again, at `near`.
    return new Date(wall - (this.wallMs(near) - near)).toISOString();
  }

  /** The zone's wall clock at an instant, as milliseconds since the epoch as if that wall clock were UTC. */
  private wallMs(atMs: number): number {
    const parts = Object.fromEntries(this.parts.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, second);
  }

  /** `26 Nov 2026` */
  date(at: string): string {
    return this.day.format(Date.parse(at));
  }

  /** `26 Nov 2026, 19:04:56.650 GMT+01:00` */
  exact(at: string): string {
    return this.whole.format(Date.parse(at));
  }
}

const isKnown = (zone: string): boolean => {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/** How long something took: `12 ms`, `4.2 s`, `3 min`. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
};

/** How long until a deadline: `3:22`, `1 h 02 min`, `2 days`; `0:00` if it is over. */
export const timeLeft = (ms: number): string => {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1_440) return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, '0')} min`;
  const days = Math.floor(minutes / 1_440);
  return `${days} ${days === 1 ? 'day' : 'days'}`;
};
