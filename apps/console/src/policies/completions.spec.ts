import { describe, expect, it } from 'vitest';
import type { Schemas } from '../kernel/client.ts';
import { completionsAt } from './completions.ts';

const field = (name: string, values: (string | number)[] | null = null) => ({
  name,
  required: false,
  values,
  description: `what ${name} is`,
});

const OUTCOMES = ['allow', 'deny', 'require_approval'];

const LANGUAGE: Schemas['PolicyLanguage'] = {
  object: 'policy_language',
  version: 1,
  policy: [field('version', [1]), field('default', OUTCOMES), field('rules'), field('budgets')],
  rule: [field('id'), field('match'), field('when'), field('decision', OUTCOMES)],
  match: [field('tools'), field('mode', ['gateway', 'proxy'])],
  approval: [field('approvers'), field('expires_in')],
  budget: [field('id'), field('period', ['hour', 'day']), field('max_calls'), field('max_spend')],
  facts: [
    {
      path: 'args',
      type: 'map',
      values: null,
      presence: 'always',
      connector_types: null,
      description: 'the arguments',
    },
    {
      path: 'agent.name',
      type: 'string',
      values: null,
      presence: 'always',
      connector_types: null,
      description: 'a name',
    },
    { path: 'agent.id', type: 'string', values: null, presence: 'always', connector_types: null, description: 'an id' },
  ],
  functions: [
    { name: 'startsWith', signatures: [{ target: 'string', arguments: ['string'], result: 'bool' }] },
    { name: 'timestamp', signatures: [{ target: null, arguments: ['string'], result: 'timestamp' }] },
  ],
  macros: [{ name: 'has', example: 'has(args.note)' }],
  operators: ['&&'],
  type_names: ['int'],
};

const labels = (before: string): readonly string[] | null =>
  completionsAt(before, LANGUAGE)?.options.map(({ label }) => label) ?? null;

describe('the completions of a key', () => {
  it('are the fields of the policy at the start of a line', () =>
    expect(labels('version: 1\nde')).toEqual(['version', 'default', 'rules', 'budgets']));
  it('are the fields of a rule after its dash, and below', () => {
    const rule = ['id', 'match', 'when', 'decision'];
    expect(labels('rules:\n  - ')).toEqual(rule);
    expect(labels('rules:\n  - id: a\n    match:\n      tools:\n        - x\n    dec')).toEqual(rule);
  });
  it('are the fields of a match, of an approval and of a budget', () => {
    expect(labels('rules:\n  - id: a\n    match:\n      to')).toEqual(['tools', 'mode']);
    expect(labels('rules:\n  - id: a\n    approval:\n      ')).toEqual(['approvers', 'expires_in']);
    expect(labels('budgets:\n  - ')).toEqual(['id', 'period', 'max_calls', 'max_spend']);
  });
  it('replace the partly typed word', () =>
    expect(completionsAt('version: 1\nde', LANGUAGE)).toMatchObject({ from: 11 }));
});

describe('the completions of a value', () => {
  it('are the values that the field can have', () => {
    expect(labels('default: ')).toEqual(OUTCOMES);
    expect(labels('rules:\n  - id: a\n    decision: re')).toEqual(OUTCOMES);
    expect(labels('rules:\n  - id: a\n    match:\n      mode:\n        - ')).toEqual(['gateway', 'proxy']);
  });
  it('are null if the field takes any value', () => {
    expect(labels('rules:\n  - id: rea')).toBeNull();
    expect(labels('rules:\n  - id: a\n    match:\n      tools:\n        - crm')).toBeNull();
    expect(labels('# def')).toBeNull();
  });
});

describe('the completions under the tools of a match', () => {
  const TOOLS = [
    { name: 'crm.get', side_effect: 'read', description: 'Reads a \u202e customer' },
    { name: 'crm.notes.close', side_effect: 'destructive', description: null },
    { name: 'pay.refund', side_effect: 'write', description: 'Gives money back' },
  ] as const;
  const NAMES = ['crm.*', 'crm.get', 'crm.notes.close', 'pay.*', 'pay.refund'];
  const under = (text: string, match = 'rules:\n  - id: a\n    match:\n') => {
    const before = `${match}${text}`;
    const found = completionsAt(before, LANGUAGE, TOOLS);
    return found && { word: before.slice(found.from), names: found.options.map(({ label }) => label) };
  };

  it('are each tool and a glob for each connector, with their side effects', () =>
    expect(completionsAt('rules:\n  - match:\n      tools:\n        - ', LANGUAGE, TOOLS)?.options).toMatchObject([
      { label: 'crm.*', detail: 'read, destructive: all 2 tools' },
      { label: 'crm.get', detail: 'read: Reads a <U+202E> customer' },
      { label: 'crm.notes.close', detail: 'destructive' },
      { label: 'pay.*', detail: 'write: one tool' },
      { label: 'pay.refund', detail: 'write: Gives money back' },
    ]));

  it.each([
    ['      tools:\n        - crm.g', 'crm.g'],
    ['      tools:\n        - pay.refund\n        - "cr', 'cr'],
    ["      tools:\n      - '", ''],
    ['      tools: [crm.get, "pa', 'pa'],
    ['      mode: proxy\n      tools:\n        - crm.*', 'crm.*'],
  ])('replace the partly typed name: %j', (text, word) => expect(under(text)).toEqual({ word, names: NAMES }));

  it('are offered for a budget, too', () =>
    expect(under('        - ', 'budgets:\n  - id: b\n    match:\n      tools:\n')?.names).toEqual(NAMES));

  it.each(['      agents:\n        - cr', '      tools:\n        - crm.get # cr', '      tools: crm'])(
    'are not offered elsewhere: %j',
    (text) => expect(under(text)).toBeNull(),
  );
});

describe('the completions in a condition', () => {
  const when = (text: string) => `rules:\n  - id: a\n    when: ${text}`;
  const all = ['args', 'agent.name', 'agent.id', 'has', 'startsWith', 'timestamp'];
  it('are facts, macros and functions', () => {
    expect(labels(when(''))).toEqual(all);
    expect(labels(when('has(args.x) && ag'))).toEqual(all);
  });
  it('take the dots of a fact as part of the word', () =>
    expect(completionsAt(when('agent.'), LANGUAGE)).toMatchObject({ from: when('').length }));
  it('are functions after a dot that is in no fact', () =>
    expect(labels(when('args.note.st'))).toEqual(['startsWith']));
  it('are the same on the later lines of a block', () =>
    expect(labels(when('|\n      has(args.a) &&\n      '))).toEqual(all));
});
