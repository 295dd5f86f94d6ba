import { describe, expect, it } from 'vitest';
import { localDayAt } from './local-day.js';

const dayAt = (timeZone: string, instant: string): [string, string] => {
  const { day, sinceMs } = localDayAt(timeZone, Date.parse(instant));
  return [day, new Date(sinceMs).toISOString()];
};

describe('the day in a time zone', () => {
  it.each([
    ['UTC', '2026-10-01T00:00:00.000Z', '2026-10-01', '2026-10-01T00:00:00.000Z'],
    ['UTC', '2026-10-01T23:59:59.999Z', '2026-10-01', '2026-10-01T00:00:00.000Z'],
    ['Europe/Vienna', '2026-10-01T22:00:00.000Z', '2026-10-02', '2026-10-01T22:00:00.000Z'],
    ['Europe/Vienna', '2026-10-01T21:59:59.999Z', '2026-10-01', '2026-09-30T22:00:00.000Z'],
    ['America/Los_Angeles', '2026-10-01T06:59:00.000Z', '2026-09-30', '2026-09-30T07:00:00.000Z'],
    ['Asia/Kolkata', '2026-10-01T18:30:00.000Z', '2026-10-02', '2026-10-01T18:30:00.000Z'],
  ])('%s at %s is %s', (zone, instant, day, since) => expect(dayAt(zone, instant)).toEqual([day, since]));

  it('has 25 hours when clocks go back, and 23 when they go forward', () => {
    expect(dayAt('Europe/Vienna', '2026-10-25T22:59:00.000Z')).toEqual(['2026-10-25', '2026-10-24T22:00:00.000Z']);
    expect(dayAt('Europe/Vienna', '2026-03-29T21:59:00.000Z')).toEqual(['2026-03-29', '2026-03-28T23:00:00.000Z']);
  });

  it('begins at one o’clock where midnight is skipped', () =>
    expect(dayAt('Africa/Cairo', '2026-04-24T12:00:00.000Z')).toEqual(['2026-04-24', '2026-04-23T22:00:00.000Z']));

  it('follows one that was skipped whole', () =>
    expect(dayAt('Pacific/Apia', '2011-12-30T12:00:00.000Z')).toEqual(['2011-12-31', '2011-12-30T10:00:00.000Z']));
});
