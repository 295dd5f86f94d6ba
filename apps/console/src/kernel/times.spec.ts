import { describe, expect, it } from 'vitest';
import { duration, timeLeft, Times } from './times.ts';

const AT = '2026-11-26T18:04:56.650Z';
const NOW = Date.parse('2026-11-26T20:00:00.000Z');

describe('a time', () => {
  it('is shown in the zone of the organization', () => {
    const times = new Times('Europe/Vienna');
    expect(times.zoneName(NOW)).toBe('Vienna, GMT+1');
    expect(times.short(AT, NOW)).toBe('19:04:56');
    expect(times.exact(AT)).toBe('26 Nov 2026, 19:04:56.650 GMT+01:00');
    expect(times.hour(AT)).toBe('19:04');
  });

  it('has its day if that is not today in the zone', () => {
    const afterMidnight = Date.parse('2026-11-26T23:30:00.000Z');
    expect(new Times('Europe/Vienna').short(AT, afterMidnight)).toBe('26 Nov 2026, 19:04:56');
    expect(new Times('UTC').short(AT, afterMidnight)).toBe('18:04:56');
  });

  it('is shown in UTC, and says so, if the browser does not know the zone', () => {
    const times = new Times('Mars/Olympus_Mons');
    expect([times.zoneName(NOW), times.short(AT, NOW)]).toEqual(['UTC', '18:04:56']);
  });

  it('is read back as a datetime-local field has it, across a change of clocks too', () => {
    const times = new Times('Europe/Vienna');
    expect(times.local(AT)).toBe('2026-11-26T19:04');
    for (const at of ['2026-11-26T18:04:00.000Z', '2026-03-29T00:59:00.000Z', '2026-03-29T01:00:00.000Z'])
      expect(times.instantOf(times.local(at))).toBe(at);
    expect(times.instantOf('2026-10-25T12:00')).toBe('2026-10-25T11:00:00.000Z');
    expect(times.instantOf('')).toBeNull();
  });

  it.each([
    [0.4, '0 ms'],
    [999, '999 ms'],
    [4_210, '4.2 s'],
    [59_949, '59.9 s'],
    [180_000, '3 min'],
    [5_400_000, '1.5 h'],
  ])('of %d ms took %s', (ms, said) => expect(duration(ms)).toBe(said));

  it.each([
    [-5, '0:00'],
    [202_999, '3:22'],
    [3_600_000, '1 h 00 min'],
    [3_725_000, '1 h 02 min'],
    [86_400_000, '1 day'],
    [200_000_000, '2 days'],
  ])('of %d ms that are left reads %s', (ms, said) => expect(timeLeft(ms)).toBe(said));
});
