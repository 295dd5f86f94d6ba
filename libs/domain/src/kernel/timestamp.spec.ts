import { expect, it } from 'vitest';
import { parseTimestamp, timestampOf } from './timestamp.js';

it.each([
  ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0001-01-01T23:59:00+23:59', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ['2026-10-01T12:00:00.1239+02:00', '2026-10-01T10:00:00.123Z'],
  ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
])('the instant of %s', (written, instant) => {
  expect(timestampOf(parseTimestamp(written) as number)).toBe(instant);
});

it.each([
  ['a day that there is not', '2026-02-29T00:00:00Z'],
  ['no zone', '2026-10-01T12:00:00'],
  ['lower case', '2026-10-01t12:00:00z'],
  ['the year 0', '0000-12-31T23:59:59Z'],
  ['an offset that leads into the year 0', '0001-01-01T00:00:00+23:59'],
  ['an offset that leads into the year 10000', '9999-12-31T23:59:59-23:59'],
])('is none: %s', (_title, written) => {
  expect(parseTimestamp(written)).toBeNull();
});
