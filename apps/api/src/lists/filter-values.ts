import { parseTimestamp, type Timestamp, timestampOf } from '#libs/domain/kernel';
import { queryProblem } from '../http/query-string.js';

/**
 * A comma list of known values, without repetitions.
 * @throws {DomainError} validation_failed for an empty list, an empty or another value
 */
export const commaList = <Value extends string>(
  name: string,
  text: string,
  known: readonly Value[],
): readonly Value[] => {
  const values = text.split(',');
  if (!values.every((value): value is Value => (known as readonly string[]).includes(value))) {
    throw queryProblem(name, `must be a comma list of ${known.join(', ')}`);
  }
  return [...new Set(values)];
};

/** An offset can carry an instant out of the years that have the one spelling of timestamps. */
const FOUR_DIGIT_YEAR = /^(?!0000)\d{4}-/;
const SUBMILLISECOND = /\.\d{3}\d*[1-9]/;

/**
 * The first stored instant that is not before the one written. Stored instants have
 * milliseconds, so for a finer one the next millisecond is the same bound, whether inclusive from below or exclusive from
 * above.
 * @throws {DomainError} validation_failed when it is no RFC 3339 date-time
 */
export const instantAtOrAfter = (name: string, text: string): Timestamp => {
  const epochMs = parseTimestamp(text);
  const instant = epochMs === null ? '' : timestampOf(SUBMILLISECOND.test(text) ? epochMs + 1 : epochMs);
  if (!FOUR_DIGIT_YEAR.test(instant)) {
    throw queryProblem(name, 'must be an RFC 3339 date-time such as 2026-10-01T00:00:00Z');
  }
  return instant;
};

/** The same for every list that is searched (rule API-14). */
export const Q_CHARACTERS = { min: 2, max: 64 } as const;

/** @throws {DomainError} validation_failed */
export const searchText = (name: string, text: string): string => {
  const { length } = [...text];
  const { min, max } = Q_CHARACTERS;
  if (length < min || length > max) throw queryProblem(name, `must be ${min} to ${max} characters`);
  return text;
};
