import { afterEach, describe, expect, it } from 'vitest';
import { Rounds } from './turns.js';

describe('rounds of the event loop', () => {
  let [round, isOver] = [0, false];
  const count = (): void => {
    round += 1;
    if (!isOver) setImmediate(count);
  };
  afterEach(() => (isOver = true));

  it('take at most the given number of pieces each, across all callers', async () => {
    setImmediate(count);
    const rounds = new Rounds(2);
    const take = async (): Promise<number> => {
      await rounds.room();
      return round;
    };
    const [first, second, third, fourth, fifth] = await Promise.all([take(), take(), take(), take(), take()]);
    expect([second, fourth]).toEqual([first, third]);
    expect(third).toBeGreaterThan(first);
    expect(fifth).toBeGreaterThan(third);
    expect(await take()).toBe(fifth);
  });
});
