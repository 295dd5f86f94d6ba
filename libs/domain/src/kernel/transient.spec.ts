import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { TransientMap, TransientSet } from './transient.js';

describe('a map of what comes and goes', () => {
  it('holds what was set last, in the order of coming, until it is deleted', () => {
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

describe('a set of what comes and goes', () => {
  it('holds a value as often as it came, and each leaves once', () => {
    const set = new TransientSet<string>();
    const leave = set.add('a');
    set.add('a');
    set.add('b');
    leave();
    leave();
    expect([set.size, set.values()]).toEqual([2, ['a', 'b']]);
  });

  it('passes over who leaves while it is gone through, and who comes', () => {
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

describe('what has gone', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage = runInNewContext('gc') as (options?: { readonly type: 'minor' }) => void;
  const VALUES = 2_000;
  const value = (): readonly number[] => new Array<number>(1_000).fill(0.5);

  /** Bytes that scavenges alone leave of values that have come and gone, 8 kB each, since the collection became old. */
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

  it('is let go of by the next scavenge', () => {
    const map = new TransientMap<readonly number[]>();
    const set = new TransientSet<readonly number[]>();
    let count = 0;
    // Calls overlap: each leaves once the next has come.
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
