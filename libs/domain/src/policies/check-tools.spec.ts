import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';
import { checkToolsInTurns } from './check-tools.js';
import { compilePolicy } from './compile-policy.js';
import type { DeclaredTool } from './declared-tools.js';

const tool = (
  name: string,
  properties: JsonObject,
  required: readonly string[] = [],
  sideEffect: DeclaredTool['sideEffect'] = 'write',
): DeclaredTool => ({
  name,
  sideEffect,
  namesCost: false,
  inputSchema: { type: 'object', properties, required: [...required], additionalProperties: false },
});

const REFUND = tool(
  'pay.refund',
  {
    amount: { type: 'integer' },
    price: { type: 'number' },
    currency: { type: 'string', enum: ['eur', 'usd'] },
    note: { type: 'string' },
    level: { type: 'integer', enum: [1, 2] },
    express: { type: 'boolean' },
    lines: { type: 'array' },
    to: { type: 'object' },
  },
  ['amount', 'currency', 'price', 'express', 'lines', 'to', 'level'],
);
const INVOICE = tool('pay.invoice', { amount: { type: 'string' }, currency: { type: 'string', enum: ['gbp'] } }, [
  'amount',
  'currency',
]);
const READ = tool('crm.get', { id: { type: 'string' } }, ['id'], 'read');

const policy = (match: readonly string[], when: string | null): string =>
  [
    'version: 1',
    'default: deny',
    'rules:',
    '  - id: one',
    ...(match.length === 0 ? [] : ['    match:', ...match.map((line) => `      ${line}`)]),
    ...(when === null ? [] : ['    when: |', `      ${when}`]),
    '    decision: allow',
    '',
  ].join('\n');
const REFUNDS = ['tools:', '  - pay.refund'];
const found = async (source: string, tools: readonly DeclaredTool[] = [REFUND, READ]) => {
  expect(compilePolicy(source).ok).toBe(true);
  return checkToolsInTurns(source, tools);
};
const codes = async (...asked: Parameters<typeof found>) => (await found(...asked)).map(({ code }) => code);
const when = (condition: string) => policy(REFUNDS, condition);

describe('a policy beside the tools there are: arguments', () => {
  it.each([
    'args.amount > 5 && args.price <= 9.5 && args.price < 10',
    'args.currency == "eur" || args.currency in ["usd"]',
    'has(args.note) && args.note.contains("x")',
    '"note" in args && args["note"] == "x"',
    'args.express && size(args.lines) > 1 && args.to.name == "x"',
    'args.lines.exists(line, line.sku == "x")',
    'args.all(name, name != "secret")',
    'args == {"amount": 1}',
    'args[tool] == 1',
    'args.price * 2 > 10',
    'args.level == 2 || args.level > 5 || args.level in [1]',
    'double(args.amount) * 1.5 > 10.0',
    'has(args.amount)',
  ])('finds nothing in %s', async (condition) => expect(await codes(when(condition))).toEqual([]));

  it.each([
    ['unknown_argument', 'args.amuont > 5', 'Did you mean amount?'],
    ['unknown_argument', 'has(args.amuont)', 'Did you mean amount?'],
    ['unknown_argument', '"amuont" in args', 'Did you mean amount?'],
    ['unknown_argument', 'args["amuont"] == 5', 'Did you mean amount?'],
    ['optional_argument', 'args.note == "x"', 'Begin with "has(args.note) && ".'],
    ['argument_type', 'args.amount == "5"', 'type that the tool declares'],
    ['argument_type', 'args.amount > "5"', 'type that the tool declares'],
    ['argument_type', 'args.price == "5"', 'type that the tool declares'],
    ['argument_type', 'args.amount * 1.5 > 10.0', 'type that the tool declares'],
    ['argument_type', 'args.currency > 5', 'type that the tool declares'],
    ['argument_type', 'args.express == 1', 'type that the tool declares'],
    ['argument_type', 'args.amount.contains("5")', 'type that the tool declares'],
    ['argument_type', 'args.amount', 'type that the tool declares'],
    ['argument_value', 'args.level == 3', 'values that the tool declares'],
    ['argument_value', 'args.level in [1, 3]', 'values that the tool declares'],
    ['argument_value', 'args.currency == "gbp"', 'values that the tool declares'],
    ['argument_value', 'args.currency in ["eur", "gbp"]', 'values that the tool declares'],
  ])('%s in %s', async (code, condition, hint) => {
    const all = await found(when(condition));
    expect(all.map((each) => each.code)).toEqual([code]);
    expect(all[0]).toMatchObject({ severity: 'warning', line: 9, rule_id: 'one', path: 'rules[0].when' });
    expect(all[0]?.hint).toContain(hint);
    expect(all[0]?.message).toMatch(/^\S.*\.$/);
  });

  it('points at the read itself', async () =>
    expect((await found(when('args.amount > 5 && args.amuont > 5')))[0]).toMatchObject({ line: 9, column: 31 }));

  it('are those of every tool that the rule is about', async () => {
    const both = (condition: string) => codes(policy(['tools:', '  - pay.*'], condition), [REFUND, INVOICE]);
    expect(await both('args.amount == 5 || args.amount == "5"')).toEqual([]);
    expect(await both('args.currency == "gbp" || args.currency == "eur"')).toEqual([]);
    expect(await both('args.currency == "chf"')).toEqual(['argument_value']);
    expect(await both('args.express')).toEqual(['optional_argument']);
    expect(await both('tool == "pay.refund" && args.express')).toEqual([]);
    expect(await both('args.total > 1')).toEqual(['unknown_argument']);
  });

  it('are not looked at where a tool that the rule is about declares none', async () => {
    const open: DeclaredTool = {
      name: 'pay.open',
      sideEffect: 'write',
      namesCost: false,
      inputSchema: { type: 'object' },
    };
    expect(await codes(policy(['tools:', '  - pay.*'], 'args.anything == 1'), [REFUND, open])).toEqual([]);
  });

  it('are those of every tool there is, of a rule that names none', async () => {
    expect(await codes(policy([], 'has(args.id)'))).toEqual([]);
    expect(await codes(policy([], 'has(args.nothing)'))).toEqual(['unknown_argument']);
    expect(await codes(policy(['side_effect: read'], 'has(args.amount)'))).toEqual(['unknown_argument']);
  });

  it('say nothing twice that the language says already', async () =>
    expect(await codes(when('request.http.method == "GET" && 1 < args.amount'))).toEqual([]));
});

describe('a policy beside the tools there are: names', () => {
  it.each([
    [['tools:', '  - pay.refnud'], 'Did you mean pay.refund?'],
    [['tools:', '  - mail.*'], 'GET /v1/tools'],
    [['tools:', '  - pay.refund', '  - pay.refnud'], 'Did you mean pay.refund?'],
    [['tools:', '  - pay.*', 'side_effect: destructive'], 'side effect'],
  ])('no_such_tool for %j', async (match, hint) => {
    const all = await found(policy(match, null));
    expect(all).toMatchObject([{ code: 'no_such_tool', severity: 'warning', line: 4, rule_id: 'one' }]);
    expect(all[0]?.hint).toContain(hint);
  });

  it.each([
    [['tools:', '  - pay.*', '  - mail.*']],
    [['tools:', '  - files.write', 'mode: proxy']],
    [['side_effect: destructive']],
  ])('finds nothing in %j', async (match) => expect(await codes(policy(match, null))).toEqual([]));

  it('a tool whose calls may be graver is what a rule about those names', async () => {
    const execute: DeclaredTool = { ...tool('shop.execute', {}), callsMayBe: ['destructive'] };
    const about = (sideEffect: string) => policy(['tools:', '  - shop.*', `side_effect: ${sideEffect}`], null);
    expect(await codes(about('destructive'), [execute])).toEqual([]);
    expect(await codes(about('write'), [execute])).toEqual([]);
    expect(await codes(about('read'), [execute])).toEqual(['no_such_tool']);
  });

  it('finds nothing in a source with an error', async () =>
    expect(await checkToolsInTurns('version: 2\n', [REFUND])).toEqual([]));
});

describe('a policy beside the tools there are: budgets', () => {
  const bounded = (...lines: readonly string[]): string =>
    [
      'version: 1',
      'default: deny',
      'budgets:',
      '  - id: daily',
      '    period: day',
      ...lines.map((line) => `    ${line}`),
      '',
    ].join('\n');
  const about = (tool: string) => ['match:', '  tools:', `    - ${tool}`];
  const spend = ['max_spend:', '  amount: 1000', '  currency: eur'];

  it('names tools that no connector has: such a budget bounds nothing', async () => {
    expect(await found(bounded('max_calls: 3', ...about('pay.refnud')))).toMatchObject([
      {
        code: 'no_such_tool',
        line: 4,
        message: 'The budget "daily" is about tools that no connector has: pay.refnud.',
        hint: expect.stringContaining('Did you mean pay.refund?') as string,
      },
    ]);
  });

  it('says of money that no tool names that it is never charged', async () => {
    expect(await found(bounded(...about('pay.*'), ...spend))).toMatchObject([
      {
        code: 'spend_never_charged',
        severity: 'warning',
        line: 9,
        hint: expect.stringContaining('max_calls') as string,
      },
    ]);
    expect(await codes(bounded(...about('pay.*'), ...spend), [{ ...REFUND, namesCost: true }])).toEqual([]);
    expect(await codes(bounded(...about('pay.*'), ...spend), [REFUND, { ...READ, namesCost: true }])).toEqual([
      'spend_never_charged',
    ]);
  });

  it('finds nothing in one that counts calls of tools there are, or of an edge', async () => {
    expect(await codes(bounded('max_calls: 3', ...about('pay.refund')))).toEqual([]);
    expect(await codes(bounded('max_calls: 3'))).toEqual([]);
    expect(await codes(bounded('max_calls: 3', ...about('files.write'), '  mode: proxy'))).toEqual([]);
  });
});
