import { describe, expect, it } from 'vitest';
import { localPeriodAt, type PeriodKind } from './local-period.js';

const periodAt = (kind: PeriodKind, timeZone: string, instant: string): [string, string, string] => {
  const { label, startsMs, endsMs } = localPeriodAt(kind, timeZone, Date.parse(instant));
  return [label, new Date(startsMs).toISOString(), new Date(endsMs).toISOString()];
};

const HOUR_MS = 3_600_000;
const hoursOf = (timeZone: string, instant: string): number => {
  const { startsMs, endsMs } = localPeriodAt('day', timeZone, Date.parse(instant));
  return (endsMs - startsMs) / HOUR_MS;
};

describe('a day of a time zone', () => {
  it.each([
    ['UTC', '2026-10-01T00:00:00.000Z', 'day:2026-10-01', '2026-10-01T00:00:00.000Z', '2026-10-02T00:00:00.000Z'],
    ['UTC', '2026-10-01T23:59:59.999Z', 'day:2026-10-01', '2026-10-01T00:00:00.000Z', '2026-10-02T00:00:00.000Z'],
    [
      'Europe/Vienna',
      '2026-10-01T22:00:00.000Z',
      'day:2026-10-02',
      '2026-10-01T22:00:00.000Z',
      '2026-10-02T22:00:00.000Z',
    ],
    [
      'Asia/Kolkata',
      '2026-10-01T18:30:00.000Z',
      'day:2026-10-02',
      '2026-10-01T18:30:00.000Z',
      '2026-10-02T18:30:00.000Z',
    ],
  ])('%s at %s is %s', (zone, instant, ...expected) => expect(periodAt('day', zone, instant)).toEqual(expected));

  it.each([
    ['clocks go back', 'Europe/Vienna', '2026-10-25T12:00:00.000Z', 25],
    ['clocks go forward', 'Europe/Vienna', '2026-03-29T12:00:00.000Z', 23],
    ['they change by half an hour', 'Australia/Lord_Howe', '2026-04-05T00:00:00.000Z', 24.5],
    ['midnight comes twice', 'America/Havana', '2025-11-02T12:00:00.000Z', 25],
    ['the last hour comes twice', 'America/Santiago', '2026-04-04T12:00:00.000Z', 25],
  ])('where %s: %s at %s has %d hours', (_, zone, instant, hours) => expect(hoursOf(zone, instant)).toBe(hours));

  it.each([
    ['Africa/Cairo', '2026-04-24T12:00:00.000Z', '2026-04-23T22:00:00.000Z'],
    ['America/Havana', '2026-03-08T12:00:00.000Z', '2026-03-08T05:00:00.000Z'],
    ['Asia/Beirut', '2026-03-29T12:00:00.000Z', '2026-03-28T22:00:00.000Z'],
    ['America/Santiago', '2026-09-06T12:00:00.000Z', '2026-09-06T04:00:00.000Z'],
  ])('begins at one o’clock where midnight is left out: %s', (zone, instant, starts) => {
    expect(periodAt('day', zone, instant)[1]).toBe(starts);
    expect(hoursOf(zone, instant)).toBe(23);
  });

  it('ends at the first instant after the next day if the zone skips that day', () => {
    const skipped = '2011-12-30T10:00:00.000Z';
    expect(periodAt('day', 'Pacific/Apia', '2011-12-30T09:59:59.999Z')).toEqual([
      'day:2011-12-29',
      expect.any(String),
      skipped,
    ]);
    expect(periodAt('day', 'Pacific/Apia', skipped).slice(0, 2)).toEqual(['day:2011-12-31', skipped]);
  });
});

describe('the other periods', () => {
  it.each<[PeriodKind, string, string, string, string, string]>([
    [
      'week',
      'Europe/Vienna',
      '2026-10-04T21:59:59.999Z',
      'week:2026-W40',
      '2026-09-27T22:00:00.000Z',
      '2026-10-04T22:00:00.000Z',
    ],
    [
      'week',
      'Europe/Vienna',
      '2026-10-04T22:00:00.000Z',
      'week:2026-W41',
      '2026-10-04T22:00:00.000Z',
      '2026-10-11T22:00:00.000Z',
    ],
    [
      'week',
      'UTC',
      '2027-01-01T00:00:00.000Z',
      'week:2026-W53',
      '2026-12-28T00:00:00.000Z',
      '2027-01-04T00:00:00.000Z',
    ],
    [
      'week',
      'UTC',
      '2027-01-04T00:00:00.000Z',
      'week:2027-W01',
      '2027-01-04T00:00:00.000Z',
      '2027-01-11T00:00:00.000Z',
    ],
    [
      'month',
      'Europe/Vienna',
      '2026-10-31T23:00:00.000Z',
      'month:2026-11',
      '2026-10-31T23:00:00.000Z',
      '2026-11-30T23:00:00.000Z',
    ],
    [
      'month',
      'UTC',
      '2028-02-29T12:00:00.000Z',
      'month:2028-02',
      '2028-02-01T00:00:00.000Z',
      '2028-03-01T00:00:00.000Z',
    ],
    [
      'hour',
      'UTC',
      '2026-10-01T08:59:59.999Z',
      'hour:2026-10-01T08:00:00.000Z',
      '2026-10-01T08:00:00.000Z',
      '2026-10-01T09:00:00.000Z',
    ],
    [
      'hour',
      'Asia/Kolkata',
      '2026-10-01T08:29:59.999Z',
      'hour:2026-10-01T07:30:00.000Z',
      '2026-10-01T07:30:00.000Z',
      '2026-10-01T08:30:00.000Z',
    ],
  ])('%s in %s at %s is %s', (kind, zone, instant, ...expected) =>
    expect(periodAt(kind, zone, instant)).toEqual(expected),
  );

  it('an hour that comes twice when clocks go back is two periods', () => {
    const [first] = periodAt('hour', 'Europe/Vienna', '2026-10-25T00:30:00.000Z');
    const [second] = periodAt('hour', 'Europe/Vienna', '2026-10-25T01:30:00.000Z');
    expect([first, second]).toEqual(['hour:2026-10-25T00:00:00.000Z', 'hour:2026-10-25T01:00:00.000Z']);
  });
});

it('each instant gets its own period, in whatever order they are asked for', () => {
  const instants = ['2026-10-02T00:00:00.000Z', '2026-10-01T23:59:59.999Z', '2026-10-02T00:00:00.000Z'];
  const labels = instants.map((instant) => periodAt('day', 'UTC', instant)[0]);
  expect(labels).toEqual(['day:2026-10-02', 'day:2026-10-01', 'day:2026-10-02']);
});

it('an unknown time zone is refused', () =>
  expect(() => localPeriodAt('day', 'Europe/Atlantis', 0)).toThrow(RangeError));
