import { describe, expect, it } from 'vitest';
import { GatheredCalls } from './gathered-calls.js';

/** Calls that end when the test ends them. */
const heldCalls = (options: { maxItems?: number; maxWeight?: number } = {}) => {
  const calls: { items: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const gathered = new GatheredCalls<string, string>(
    (items) =>
      new Promise((resolve, reject) => {
        calls.push({ items, end: () => resolve(items.map((item) => item.toUpperCase())), fail: reject });
      }),
    { maxItems: 100, weightOf: (item) => item.length, ...options },
  );
  return { gathered, calls };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('gathered calls', () => {
  it('makes one call for all items of the same turn, and gives each its own answer', async () => {
    const { gathered, calls } = heldCalls();
    const answers = Promise.all(['a', 'b', 'c'].map((item) => gathered.of(item)));
    await turn();
    expect(calls.map(({ items }) => items)).toEqual([['a', 'b', 'c']]);
    calls[0]?.end();
    expect(await answers).toEqual(['A', 'B', 'C']);
  });

  it('never answers from a call that had begun before the question', async () => {
    const { gathered, calls } = heldCalls();
    const first = gathered.of('a');
    await turn();
    const second = gathered.of('a');
    await turn();
    expect(calls).toHaveLength(1);
    calls[0]?.end();
    await first;
    await turn();
    expect(calls.map(({ items }) => items)).toEqual([['a'], ['a']]);
    calls[1]?.end();
    expect(await second).toBe('A');
  });

  it('rejects every caller of a failed call, and continues with the next call', async () => {
    const { gathered, calls } = heldCalls();
    const failing = Promise.allSettled([gathered.of('a'), gathered.of('b')]);
    await turn();
    const next = gathered.of('c');
    calls[0]?.fail(new Error('lost'));
    expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await turn();
    calls[1]?.end();
    expect(await next).toBe('C');
  });

  it.each([
    ['items', { maxItems: 2 }, [['aaa', 'bbb'], ['cc']]],
    ['weight', { maxWeight: 5 }, [['aaa'], ['bbb', 'cc']]],
    ['weight, but never less than one item', { maxWeight: 1 }, [['aaa'], ['bbb'], ['cc']]],
  ])('splits what is too much for one call by %s', async (_, options, expected) => {
    const { gathered, calls } = heldCalls(options);
    const answers = Promise.all(['aaa', 'bbb', 'cc'].map((item) => gathered.of(item)));
    for (let index = 0; index < expected.length; index += 1) {
      await turn();
      calls[index]?.end();
    }
    expect(await answers).toEqual(['AAA', 'BBB', 'CC']);
    expect(calls.map(({ items }) => items)).toEqual(expected);
  });
});
