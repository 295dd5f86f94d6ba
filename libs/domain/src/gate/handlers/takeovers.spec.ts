import { beforeEach, describe, expect, it } from 'vitest';
import type { ActionId, OrgId } from '../../kernel/index.js';
import type { ExecutionAttempt } from '../action.state.js';
import { Takeovers } from './takeovers.js';

const logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const lost = { attempt: 1, claim: 'a', executor: 'exe_lost' } as unknown as ExecutionAttempt;
const [noisy, other] = ['org_noisy', 'org_other'] as OrgId[] as [OrgId, OrgId];
const action = (number: number) => `act_${number}` as ActionId;

let ends: Map<ActionId, () => void>;
let takeovers: Takeovers;
beforeEach(() => {
  ends = new Map();
  const claimAndRun = (id: ActionId) => new Promise<boolean>((end) => void ends.set(id, () => end(true)));
  takeovers = new Takeovers({ claimAndRun }, logger);
});

/** Numbers of those that were begun. */
const beginMany = (org: OrgId, first: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => first + index).filter((each) => takeovers.begin(org, action(each), lost));

describe('executions taken over at once', () => {
  it('are at most 8 of one organization, which leaves room for every other', () => {
    expect(beginMany(noisy, 1, 40)).toHaveLength(8);
    expect(beginMany(other, 100, 1)).toEqual([100]);
  });

  it('are at most 32 in all', () => {
    const begun = ['a', 'b', 'c', 'd', 'e'].flatMap((name, index) => beginMany(`org_${name}` as OrgId, index * 10, 8));
    expect(begun).toHaveLength(32);
  });

  it('are each taken over once, and make room when they end', async () => {
    expect(beginMany(noisy, 1, 9)).toHaveLength(8);
    expect(takeovers.begin(noisy, action(1), lost)).toBe(false);
    ends.get(action(1))?.();
    await new Promise(setImmediate);
    expect(takeovers.begin(noisy, action(9), lost)).toBe(true);
  });
});
