import { describe, expect, it } from 'vitest';
import { meantBy } from './meant.ts';

const AGENTS = new Map([
  ['agt_1', 'Refund desk'],
  ['agt_2', 'support'],
]);
const filters = (text: string) => meantBy(text, AGENTS).map(({ name, value }) => [name, value]);

describe('the filters offered for a text that the search does not find', () => {
  it.each<[string, string[][]]>([
    ['REFUND d', [['agent', 'agt_1']]],
    [
      'user:42',
      [
        ['on_behalf_of', 'user:42'],
        ['session', 'user:42'],
      ],
    ],
    [
      'no-exports',
      [
        ['on_behalf_of', 'no-exports'],
        ['session', 'no-exports'],
        ['rule_id', 'no-exports'],
      ],
    ],
    ['svc_live_k3y9prf0…', [['key', 'svc_live_k3y9prf0']]],
    ['crm export', []],
    ['größe', []],
  ])('%j: %j', (text, expected) => {
    expect(filters(text)).toEqual(expected);
  });
});
