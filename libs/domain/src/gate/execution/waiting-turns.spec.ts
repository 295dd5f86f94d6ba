import { beforeEach, describe, expect, it } from 'vitest';
import type { ActionId, ConnectorId, OrgId } from '../../kernel/index.js';
import { FairShares, type Sharer } from './fair-shares.js';
import { WaitingTurns } from './waiting-turns.js';

const sharer = (org: string, connector: string): Sharer => ({ org: org as OrgId, connector: connector as ConnectorId });
/** Adds actions named `org/connector/number`. */
const add = (turns: WaitingTurns, ...names: string[]): void => {
  for (const name of names) {
    const [org = '', connector = ''] = name.split('/');
    turns.add(sharer(org, connector), name as ActionId);
  }
};

let turns: WaitingTurns;
let places: FairShares;
beforeEach(() => {
  turns = new WaitingTurns(100);
  places = new FairShares(100);
});
const taken = (): string[] => {
  const ids: string[] = [];
  for (let turn = turns.takeNext(places); turn; turn = turns.takeNext(places)) ids.push(turn.id);
  return ids;
};

describe('the turns of waiting actions', () => {
  it('go by organizations, within them by connectors, and within these in order', () => {
    add(turns, 'a/x/1', 'a/x/2', 'a/x/3', 'a/y/1', 'a/y/2', 'b/z/1', 'b/z/2');
    expect(taken()).toEqual(['a/x/1', 'b/z/1', 'a/y/1', 'b/z/2', 'a/x/2', 'a/y/2', 'a/x/3']);
  });

  it('skip a connector that may take no place, and come back to it first', () => {
    places = new FairShares(4);
    const [noisy, other] = [sharer('a', 'x'), sharer('b', 'z')];
    while (places.take(noisy));
    add(turns, 'a/x/1', 'b/z/1', 'b/z/2');
    expect(turns.takeNext(places)?.id).toBe('b/z/1');
    places.giveBack(other);
    places.giveBack(noisy);
    places.giveBack(noisy);
    expect(turns.takeNext(places)?.id).toBe('a/x/1');
  });

  it('are one for each action, even if it is added again', () => {
    add(turns, 'a/x/1', 'a/x/1');
    expect(taken()).toEqual(['a/x/1']);
  });

  it('are bounded: one connector gets half of the room, and one without any still gets a turn', () => {
    add(turns, ...Array.from({ length: 1000 }, (_, number) => `a/x/${number}`));
    add(turns, 'a/y/1', 'b/z/1');
    places = new FairShares(10_000);
    const ids = taken();
    expect(ids.filter((id) => id.startsWith('a/x'))).toHaveLength(50);
    expect(ids).toEqual(expect.arrayContaining(['a/y/1', 'b/z/1']));
  });

  it('free their room when they have come', () => {
    const names = Array.from({ length: 50 }, (_, number) => `a/x/${number}`);
    places = new FairShares(10_000);
    for (let time = 0; time < 3; time += 1) {
      add(turns, ...names);
      expect(taken()).toEqual(names);
    }
    expect(turns).toEqual(new WaitingTurns(100));
  });
});
