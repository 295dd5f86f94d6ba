import { beforeEach, describe, expect, it } from 'vitest';
import type { ActionId, ConnectorId, OrgId } from '../../kernel/index.js';
import type { ExecutionAttempt } from '../action/index.js';
import type { Sharer } from './fair-shares.js';
import { Takeovers } from './takeovers.js';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const lost = { attempt: 1, claim: 'a', executor: 'exe_lost' } as unknown as ExecutionAttempt;
const sharer = (org: string, connector: string): Sharer => ({ org: org as OrgId, connector: connector as ConnectorId });
const [noisy, quick, other] = [sharer('a', 'noisy'), sharer('a', 'quick'), sharer('b', 'other')];
const action = (number: number) => `act_${number}` as ActionId;

let ends: Map<ActionId, (how: boolean | Error) => void>;
let takeovers: Takeovers;
let read: ActionId[];
beforeEach(() => {
  ends = new Map();
  const claimAndRun = (id: ActionId) =>
    new Promise<boolean>((resolve, reject) => {
      ends.set(id, (how) => (how instanceof Error ? reject(how) : resolve(how)));
    });
  read = [];
  const readBack = (id: ActionId) => Promise.resolve(void read.push(id));
  takeovers = new Takeovers({ claimAndRun, readBack }, logger);
});

const turn = (): Promise<void> => new Promise(setImmediate);

/** Begins so many takeovers, and returns the numbers of those that began at once. */
const beginMany = (who: Sharer, first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + index).filter((each) => takeovers.begin(who, action(each), lost));

describe('executions taken over at once', () => {
  it('are at most 8 of one connector, which leaves room for its neighbours and for every other organization', () => {
    expect(beginMany(noisy, 1, 40)).toHaveLength(8);
    expect(beginMany(quick, 100, 40)).toHaveLength(4);
    expect(beginMany(other, 200, 40)).toHaveLength(2);
  });

  it('are at most 32 in all, and each organization gets a first one until they are used up', () => {
    const begun = Array.from({ length: 40 }, (_, org) => beginMany(sharer(`${org}`, 'any'), org * 10, 10).length);
    expect(begun).toEqual([
      8,
      4,
      2,
      1,
      1,
      ...Array.from({ length: 16 }, () => 1),
      ...Array.from({ length: 19 }, () => 0),
    ]);
  });

  it.each<[string, boolean | Error]>([
    ['have run', true],
    ['were claimed by somebody else', false],
    ['failed', new Error('the store is away')],
  ])('are each begun once, and make room when they %s', async (_, how) => {
    expect(beginMany(noisy, 1, 8)).toHaveLength(8);
    expect(takeovers.begin(noisy, action(1), lost)).toBe(false);
    ends.get(action(1))?.(how);
    await turn();
    expect(beginMany(noisy, 9, 2)).toEqual([9]);
  });

  it('begin as soon as there is room, in their order, and each once', async () => {
    beginMany(noisy, 1, 11);
    // Another sweep finds the same executions.
    beginMany(noisy, 1, 11);
    for (const [ended, begun] of [
      [1, 9],
      [2, 10],
      [9, 11],
    ] as const) {
      expect(ends.has(action(begun))).toBe(false);
      ends.get(action(ended))?.(true);
      await turn();
      expect([...ends.keys()].at(-1)).toBe(action(begun));
    }
  });

  it('do not wait behind those of a connector without room', async () => {
    beginMany(noisy, 1, 20);
    beginMany(quick, 100, 6);
    ends.get(action(100))?.(true);
    await turn();
    expect([...ends.keys()].at(-1)).toBe(action(104));
  });

  it('do not start after their process has stopped sweeping', async () => {
    const stopping = new AbortController();
    for (const number of [1, 2, 3, 4, 5, 6, 7, 8, 9]) takeovers.begin(noisy, action(number), lost, stopping.signal);
    stopping.abort();
    ends.get(action(1))?.(true);
    await turn();
    expect(ends.size).toBe(8);
  });

  it('wait as the kind that the last sweep found, execution or read-back', async () => {
    beginMany(noisy, 1, 9);
    expect(takeovers.beginReadBack(noisy, action(9))).toBe(false);
    ends.get(action(1))?.(true);
    await turn();
    expect([read, ends.has(action(9))]).toEqual([[action(9)], false]);
  });
});
