import { InvalidArgumentError } from 'commander';

const DAY = /^\d{4}-\d\d-\d\d$/;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;

const DAY_CHARACTERS = 10;

/** Not so the 30th of February, which Date takes for a day of March. */
const isOfCalendar = (day: string): boolean =>
  new Date(Date.parse(`${day}T00:00:00Z`)).toISOString().slice(0, DAY_CHARACTERS) === day;

/** `2026-11-30`, from its beginning in UTC, or an RFC 3339 timestamp; as a timestamp of deeds, which compare as texts. */
export const instantArgument = (text: string): string => {
  const time = DAY.test(text) ? Date.parse(`${text}T00:00:00Z`) : INSTANT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time) || !isOfCalendar(text.slice(0, DAY_CHARACTERS))) {
    throw new InvalidArgumentError('A day (2026-11-30, in UTC) or a timestamp (2026-11-30T08:00:00Z) is expected.');
  }
  return new Date(time).toISOString();
};
