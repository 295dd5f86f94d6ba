import { describe, expect, it } from 'vitest';
import { daysInWords, lifeInWords, lifeOf, secondsOf } from './organization-words.ts';

describe('how long a call waits for people', () => {
  it.each([
    [60, 1, 'minutes'],
    [5_400, 90, 'minutes'],
    [7_200, 2, 'hours'],
    [86_400, 1, 'days'],
    [2_592_000, 30, 'days'],
  ] as const)('%i seconds stand as %i %s, and are the same seconds again', (seconds, count, unit) => {
    expect(lifeOf(seconds)).toEqual({ count, unit });
    expect(secondsOf(count, unit)).toBe(seconds);
  });

  it('loses nothing of what another client has set', () => {
    const { count, unit } = lifeOf(90);
    expect(secondsOf(count, unit)).toBe(90);
  });

  it('is said as people say it', () => {
    expect([lifeInWords(86_400), lifeInWords(7_200), lifeInWords(undefined)]).toEqual([
      '1 day',
      '2 hours',
      'default of the service',
    ]);
  });
});

it('bodies are kept for the days that were chosen, or for those of the service', () => {
  expect([daysInWords(null), daysInWords(1), daysInWords(30)]).toEqual(['90 days (default)', '1 day', '30 days']);
});
