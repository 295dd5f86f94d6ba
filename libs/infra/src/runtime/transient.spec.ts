import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { TransientMap, TransientSet } from './transient.js';

describe('a transient map', () => {
  it('holds the value that was set last for each key, in the order of insertion, until it is deleted', () => {
    const map = new TransientMap<number>();
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 3);
    expect([map.size, map.get('a'), map.get('c')]).toEqual([2, 3, undefined]);
    expect([[...map.keys()], map.values()]).toEqual([
      ['a', 'b'],
      [3, 2],
    ]);
    map.delete('a');
    map.delete('a');
    map.set('a', 4);
    expect([[...map.keys()], map.get('a'), map.size]).toEqual([['b', 'a'], 4, 2]);
  });
});

describe('a transient set', () => {
  it('holds a value as often as it was added, and each removal removes one', () => {
    const set = new TransientSet<string>();
    const leave = set.add('a');
    set.add('a');
    set.add('b');
    leave();
    leave();
    expect([set.size, set.values()]).toEqual([2, ['a', 'b']]);
  });

  it('does not visit a value that is removed or added during forEach', () => {
    const set = new TransientSet<string>();
    const seen: string[] = [];
    set.add('a');
    const leave = set.add('b');
    set.add('c');
    set.forEach((value) => {
      seen.push(value);
      leave();
      if (seen.length === 1) set.add('d');
    });
    expect(seen).toEqual(['a', 'c']);
    expect(set.values()).toEqual(['a', 'c', 'd']);
  });
});

describe('a removed value', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  const VALUES = 2_000;
  const value = (): readonly number[] => new Array<number>(1_000).fill(0.5);

  /**
   * How many bytes the heap has grown after `VALUES` values of 8 kB were passed and only scavenges ran. The full
   * collections before promote the map and the set to the old generation.
   */
  const leftOf = (pass: (value: readonly number[]) => void): number => {
    for (let count = 0; count < 100; count += 1) pass(value());
    collectGarbage();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let count = 0; count < VALUES; count += 1) pass(value());
    collectGarbage({ type: 'minor' });
    collectGarbage({ type: 'minor' });
    return process.memoryUsage().heapUsed - before;
  };

  it('is freed by the next scavenge', () => {
    const map = new TransientMap<readonly number[]>();
    const set = new TransientSet<readonly number[]>();
    let count = 0;
    // Calls overlap: each value is removed once the next one was added.
    let leaveBefore = (): void => undefined;
    const left = leftOf((each) => {
      const key = `value-${(count += 1)}`;
      map.set(key, each);
      const leaveSet = set.add(each);
      leaveBefore();
      leaveBefore = () => {
        map.delete(key);
        leaveSet();
      };
    });
    expect(left).toBeLessThan((VALUES * 8_000) / 8);
  });
});
