import { describe, expect, it } from 'vitest';
import { EVENT_TYPE_VALUES } from '../kernel/contract.ts';
import { chosenBy, GROUPS, inWords, type Pattern, toggled } from './subscription.ts';

describe('the types to choose from', () => {
  it('are all that the service sends, each once and in the group of its object', () => {
    const offered = GROUPS.flatMap(({ types }) => types.map(({ type }) => type));
    expect(offered.toSorted()).toEqual(
      EVENT_TYPE_VALUES.filter((type) => type !== 'webhook.test' && !/^(anomaly|suggestion)\./.test(type)).toSorted(),
    );
    for (const { family, types } of GROUPS)
      for (const { type } of types) expect(`${type.split('.')[0] ?? ''}.*`).toBe(family);
  });
});

describe('the chosen patterns', () => {
  it.each<[readonly Pattern[], Pattern, string | null]>([
    [[], 'deed.sealed', null],
    [['deed.sealed'], 'deed.sealed', 'by itself'],
    [['deed.*'], 'deed.sealed', 'by more'],
    [['*'], 'deed.sealed', 'by more'],
    [['*'], 'deed.*', 'by more'],
    [['*'], '*', 'by itself'],
    [['deed.*'], 'action.created', null],
    [['deed.sealed'], 'deed.*', null],
  ])('%j holds %s: %j', (chosen, pattern, by) => {
    expect(chosenBy(chosen, pattern)).toBe(by);
  });

  it.each<[readonly Pattern[], Pattern, readonly Pattern[]]>([
    [[], 'deed.sealed', ['deed.sealed']],
    [['deed.sealed'], 'deed.sealed', []],
    [['action.created', 'action.decided', 'deed.sealed'], 'action.*', ['deed.sealed', 'action.*']],
    [['action.*', 'deed.sealed'], '*', ['*']],
    [['*'], '*', []],
    [['webhook.*'], 'deed.sealed', ['webhook.*', 'deed.sealed']],
  ])('%j and a press on %s is %j', (chosen, pattern, next) => {
    expect(toggled(chosen, pattern)).toEqual(next);
  });

  it('is put in words by its names', () => {
    expect([inWords(['*']), inWords(['deed.sealed', 'agent.*'])]).toEqual(['everything', 'deed.sealed, agent.*']);
  });
});
