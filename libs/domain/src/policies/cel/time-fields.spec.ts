import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { civilDate, daysTo, isTimeZone, localTime, timeField } from './time-fields.js';

const MS_PER_DAY = 86_400_000;
const at = (text: string): number => Date.parse(text) / 1_000;
const field = (name: string, text: string, zone: string | null = null): number =>
  timeField(name, localTime(at(text), zone));

describe('time fields: the calendar', () => {
  it('agrees with the calendar of ECMAScript on every day of years 1 to 9999', () =>
    fc.assert(
      fc.property(fc.integer({ min: -719_162, max: 2_932_896 }), (days) => {
        const date = new Date(days * MS_PER_DAY);
        const { year, month, dayOfMonth } = civilDate(days);
        expect([year, month, dayOfMonth]).toEqual([date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]);
        expect(daysTo(year, month, dayOfMonth)).toBe(days);
        expect(timeField('getDayOfWeek', { days, secondsInDay: 0 })).toBe(date.getUTCDay());
      }),
      { numRuns: 2_000 },
    ));

  it.each([
    ['getFullYear', 2028],
    ['getMonth', 1],
    ['getDate', 29],
    ['getDayOfMonth', 28],
    ['getDayOfYear', 59],
    ['getDayOfWeek', 2],
    ['getHours', 23],
    ['getMinutes', 58],
    ['getSeconds', 57],
  ])('%s of a leap day', (name, expected) => expect(field(name, '2028-02-29T23:58:57Z')).toBe(expected));
});

describe('time fields: zones', () => {
  it('without a zone the fields are those of UTC, whatever the zone of the server', () => {
    // 02:30 on these days does not exist on clocks in Europe and America: a computation in local time would skip it.
    expect(field('getHours', '2026-03-29T02:30:00Z')).toBe(2);
    expect(field('getHours', '2026-03-08T02:30:00Z')).toBe(2);
    expect(field('getDayOfYear', '2026-07-01T00:30:00Z')).toBe(181);
  });
  it('a zone of the IANA database follows daylight saving', () => {
    expect(field('getHours', '2026-03-29T00:59:59Z', 'Europe/Vienna')).toBe(1);
    expect(field('getHours', '2026-03-29T01:00:00Z', 'Europe/Vienna')).toBe(3);
    expect(field('getDate', '2026-12-31T23:30:00Z', 'Asia/Tokyo')).toBe(1);
    expect(field('getFullYear', '2026-12-31T23:30:00Z', 'Asia/Tokyo')).toBe(2027);
  });
  it('a fixed offset is added', () => {
    expect(field('getHours', '2026-01-01T00:00:00Z', '+05:30')).toBe(5);
    expect(field('getMinutes', '2026-01-01T00:00:00Z', '05:30')).toBe(30);
    expect(field('getFullYear', '2026-01-01T00:00:00Z', '-01:00')).toBe(2025);
  });
  it.each([
    ['UTC', true],
    ['+02:00', true],
    ['Europe/Vienna', true],
    ['+2', false],
    ['+24:00', false],
    ['Mars/Base', false],
    ['', false],
  ])('%j is a zone: %j', (zone, expected) => expect(isTimeZone(zone)).toBe(expected));
});
