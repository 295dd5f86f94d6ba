/**
 * The fields of a timestamp, in UTC or in a time zone. Our own and not those of the CEL package: that one computes in
 * the time zone of the server, so in the hour that daylight saving skips there it answers another hour.
 */

const SECONDS_PER_DAY = 86_400;
const FIXED_OFFSET = /^([+-]?)([01]\d|2[0-3]):([0-5]\d)$/;

/** Days from 1970-01-01 and seconds in the day, as a clock on the wall of the zone shows them. */
export interface LocalTime {
  readonly days: number;
  readonly secondsInDay: number;
}

export const localTime = (epochSeconds: number, zone: string | null): LocalTime => {
  const local = epochSeconds + offsetSeconds(epochSeconds, zone);
  const days = Math.floor(local / SECONDS_PER_DAY);
  return { days, secondsInDay: local - days * SECONDS_PER_DAY };
};

export interface CivilDate {
  readonly year: number;
  /** 0 for January, as CEL counts. */
  readonly month: number;
  /** 1 for the first. */
  readonly dayOfMonth: number;
}

/** The Gregorian date of a day, for years 1 to 9999: what an RFC 3339 time can say. */
export const civilDate = (days: number): CivilDate => {
  // Years are counted from March, so that the leap day is the last of its year (era of 400 years, 146,097 days).
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = (monthFromMarch + 2) % 12;
  return {
    year: yearOfEra + era * 400 + (month < 2 ? 1 : 0),
    month,
    dayOfMonth: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  };
};

/** Days from 1970-01-01 to a date; month from 0. */
export const daysTo = (year: number, month: number, dayOfMonth: number): number => {
  const shiftedYear = month < 2 ? year - 1 : year;
  const era = Math.floor(shiftedYear / 400);
  const yearOfEra = shiftedYear - era * 400;
  const dayOfYear = Math.floor((153 * ((month + 10) % 12) + 2) / 5) + dayOfMonth - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
};

/** A field of the time by its CEL name. */
export const timeField = (name: string, { days, secondsInDay }: LocalTime): number => {
  switch (name) {
    case 'getFullYear':
      return civilDate(days).year;
    case 'getMonth':
      return civilDate(days).month;
    case 'getDate':
      return civilDate(days).dayOfMonth;
    case 'getDayOfMonth':
      return civilDate(days).dayOfMonth - 1;
    case 'getDayOfYear':
      return days - daysTo(civilDate(days).year, 0, 1);
    case 'getDayOfWeek':
      // 1970-01-01 was a Thursday; 0 is Sunday.
      return (((days + 4) % 7) + 7) % 7;
    case 'getHours':
      return Math.floor(secondsInDay / 3_600);
    case 'getMinutes':
      return Math.floor((secondsInDay % 3_600) / 60);
    case 'getSeconds':
      return secondsInDay % 60;
    default:
      throw new Error(`no field ${name} of a time`);
  }
};

/** UTC, a fixed offset such as +02:00, or a zone of the IANA database. */
export const isTimeZone = (zone: string): boolean => FIXED_OFFSET.test(zone) || formatterOf(zone) !== null;

const offsetSeconds = (epochSeconds: number, zone: string | null): number => {
  if (zone === null || zone === 'UTC') return 0;
  const fixed = FIXED_OFFSET.exec(zone);
  if (fixed !== null) {
    const seconds = Number(fixed[2]) * 3_600 + Number(fixed[3]) * 60;
    return fixed[1] === '-' ? -seconds : seconds;
  }
  const formatter = formatterOf(zone);
  if (formatter === null) throw new RangeError('unknown time zone');
  return wallSeconds(formatter, epochSeconds) - epochSeconds;
};

const wallSeconds = (formatter: Intl.DateTimeFormat, epochSeconds: number): number => {
  const parts = new Map(formatter.formatToParts(epochSeconds * 1_000).map(({ type, value }) => [type, Number(value)]));
  const part = (type: Intl.DateTimeFormatPartTypes): number => parts.get(type) ?? 0;
  const days = daysTo(part('year'), part('month') - 1, part('day'));
  return days * SECONDS_PER_DAY + part('hour') * 3_600 + part('minute') * 60 + part('second');
};

// Making a formatter costs a hundred times more than using it. Zones are literals of saved policies: few at once.
const CACHED_MAX = 100;
const formatters = new Map<string, Intl.DateTimeFormat | null>();

const formatterOf = (zone: string): Intl.DateTimeFormat | null => {
  const known = formatters.get(zone);
  if (known !== undefined) return known;
  const made = makeFormatter(zone);
  if (formatters.size >= CACHED_MAX) formatters.clear();
  formatters.set(zone, made);
  return made;
};

const makeFormatter = (timeZone: string): Intl.DateTimeFormat | null => {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
};
