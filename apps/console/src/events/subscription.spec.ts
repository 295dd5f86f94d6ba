import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { chosenBy, GROUPS, inWords, type Pattern, toggled } from './subscription.ts';

/** All names of `EventType` in the OpenAPI document. */
const told = (): readonly string[] => {
  const document = readFileSync(new URL('../../../api/src/openapi/events.yaml', import.meta.url), 'utf8');
  const [, list = ''] = /^ {4}EventType:\n[^]*?enum:\n((?: {8}- .+\n)+)/m.exec(document) ?? [];
  return [...list.matchAll(/- (\S+)/g)].map(([, name = '']) => name);
};

describe('the types to choose from', () => {
  it('are all that the service sends, each once and in the group of its object', () => {
    const offered = GROUPS.flatMap(({ types }) => types.map(({ type }) => type));
    expect(offered.toSorted()).toEqual(
      told()
        .filter((type) => type !== 'webhook.test' && !/^(anomaly|suggestion|decoder)\./.test(type))
        .toSorted(),
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
