import { expect, it } from 'vitest';
import { TestClock } from '../../../../test/http/edge-harness.js';
import { WindowLimit } from './window-limit.js';

const refused = (seconds: number) =>
  expect.objectContaining({ code: 'rate_limited', retryAfterSeconds: seconds }) as Error;

it('takes so many in any window, by key, and says when the next may come', () => {
  const clock = new TestClock();
  clock.stop();
  const limit = new WindowLimit(clock, 3, 60_000);
  limit.take('a');
  clock.advance(10_000);
  limit.take('a');
  limit.take('a');
  expect(() => limit.take('a')).toThrow(refused(50));
  limit.take('b');
  clock.advance(49_999);
  expect(() => limit.take('a')).toThrow(refused(1));
  clock.advance(1);
  limit.take('a');
  // What was refused did not count.
  expect(() => limit.take('a')).toThrow(refused(10));
});

it('keeps room for what is under way, and asks to come again soon where that alone fills it up', () => {
  const clock = new TestClock();
  clock.stop();
  const limit = new WindowLimit(clock, 3, 60_000);
  limit.count('a');
  expect(() => limit.require('a', 1)).not.toThrow();
  expect(() => limit.require('a', 2)).toThrow(refused(1));
  limit.count('a');
  limit.count('a');
  expect(() => limit.require('a', 0)).toThrow(refused(60));
});

it('remembers a bounded number of keys', () => {
  const limit = new WindowLimit(new TestClock(), 1, 60_000);
  limit.take('first');
  for (let index = 0; index < 10_000; index += 1) limit.take(String(index));
  expect(() => limit.take('first')).not.toThrow();
  expect(() => limit.take('9999')).toThrow(refused(60));
});
