import { describe, expect, it } from 'vitest';
import { daysInWords, lifeInWords, lifeOf, secondsOf } from './organization-words.ts';

describe('how long a call waits for people', () => {
  it.each([
    [60, 1, 'minutes'],
    [5_400, 90, 'minutes'],
    [7_200, 2, 'hours'],
    [86_400, 1, 'days'],
    [2_592_000, 30, 'days'],
  ] as const)('%i seconds are %i %s, and convert back', (seconds, count, unit) => {
    expect(lifeOf(seconds)).toEqual({ count, unit });
    expect(secondsOf(count, unit)).toBe(seconds);
  });

  it('keeps seconds that are no whole minutes, as another client may set', () => {
    const { count, unit } = lifeOf(90);
    expect(secondsOf(count, unit)).toBe(90);
  });

  it('is put in words', () => {
    expect([lifeInWords(86_400), lifeInWords(7_200), lifeInWords(undefined)]).toEqual([
      '1 day',
      '2 hours',
      'default of the service',
    ]);
  });
});

it('the days of retention are the chosen ones, or the default', () => {
  expect([daysInWords(null), daysInWords(1), daysInWords(30)]).toEqual(['90 days (default)', '1 day', '30 days']);
});
