import type { JsonObject } from '#libs/crypto';
import { describe, expect, it } from 'vitest';

import { policyInput } from '../../../../test/support/given-policy-input.js';
import { compilePolicy } from './compile-policy.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { evaluatePolicy, POLICY_EVALUATION_LIMIT_MS, UNWATCHED_STEPS_MAX } from './evaluate-policy.js';

const UNWATCHED_LIMIT_MS = 25;
/** The limit, one more where the processor was shared with others of this process, and the native call it is in. */
const WATCHED_LIMIT_MS = 2 * POLICY_EVALUATION_LIMIT_MS + 20;
const TRIES = 5;

/** Document 2, arguments profile: 256 KiB, of which some are names and marks. */
const ARGUMENTS_CHARACTERS = 262_000;
/** Fewer values than are watched whatever the policy. */
const ITEMS = 980;

const fill = (piece: string, characters: number): string =>
  piece.repeat(Math.ceil(characters / piece.length)).slice(0, characters);
const items = (item: (index: number) => string): string[] => Array.from({ length: ITEMS }, (_, index) => item(index));
const itemOf = (piece: string) => fill(piece, Math.floor(ARGUMENTS_CHARACTERS / ITEMS) - 4);

const TEXTS: Readonly<Record<string, JsonObject>> = {
  'a needle whose middle differs': { a: fill('a', 170_000), b: `${fill('a', 40_000)}b${fill('a', 40_000)}` },
  'a needle whose beginning differs': { a: fill('a', 180_000), b: `b${fill('a', 80_000)}` },
  'a needle whose end differs': { a: fill('a', 180_000), b: `${fill('a', 80_000)}b` },
  'a needle of half the text': { a: fill('ab', 174_000), b: `${fill('ab', 87_000)}c` },
  'a short needle': { a: fill('a', ARGUMENTS_CHARACTERS), b: 'aaaaaaaab' },
  'letters of both sizes': { a: fill('aBcD', ARGUMENTS_CHARACTERS), b: 'x' },
  'letters of both sizes, between others': { a: fill('aBcD\u00e9', 210_000), b: 'x' },
  'digits without end': { a: `${fill('7', 261_000)}x`, b: fill('7', 900) },
  'a fraction without end': { a: `${fill('7', 130_000)}.${fill('7', 130_000)}`, b: 'x' },
  'two equal texts': { a: fill('q', 130_000), b: fill('q', 130_000) },
  'pairs of surrogates': { a: fill('\u{1F600}', 120_000), b: '\u{1F600}x' },
};

const LISTS: Readonly<Record<string, JsonObject>> = {
  'long texts': { a: '1', l: items(() => itemOf('a')) },
  'texts of both sizes': { a: '1', l: items(() => itemOf('aB')) },
  'long texts that end unlike': { a: itemOf('a'), l: items((index) => `${itemOf('a').slice(8)}${index}`) },
  times: { a: '1', l: items((index) => `2026-01-01T00:00:00.${index}Z`) },
  'time zones': { a: '1', l: items((index) => Intl.supportedValuesOf('timeZone')[index % 400] ?? 'UTC') },
  'two equal lists': { a: items(() => 'a'.repeat(100)).slice(0, 480), l: items(() => 'a'.repeat(100)).slice(0, 480) },
};

const times = (count: number, expression: string): string => Array<string>(count).fill(`(${expression})`).join(' || ');
const LITERAL = `${'a'.repeat(950)}b${'a'.repeat(950)}`;

const OF_TEXTS: readonly string[] = [
  'args.a.contains(args.b)',
  `args.a.contains("${LITERAL}")`,
  '(args.a + "x").contains(args.b)',
  'args.a.contains("aaaaaab")',
  'args.a.contains("ab")',
  '["a","b"].exists(x, args.a.contains(x + args.b))',
  '!args.a.startsWith(args.a)',
  '!args.a.endsWith(args.a)',
  'args.a == args.b + "x"',
  'args.a < args.b && args.b < args.a',
  'args.a.lowerAscii() == args.b + "x"',
  'args.a.upperAscii() == args.b',
  'args.a.lowerAscii().upperAscii() == args.b',
  'size(args.a) == 1',
  'args.a + args.b == args.b + "x"',
  times(10, 'int(args.a) == 1'),
  times(10, 'double(args.a) == 1.0'),
  times(10, 'timestamp(args.a) == now'),
  times(10, 'duration(args.a) == duration("1s")'),
  times(10, 'args.a in args'),
  times(10, 'args[args.a + args.b] == 1'),
  'args != args',
  '{args.a: 1} == {args.b: 1}',
  '[args.a] == [args.b + "x"]',
  'args.a.matches("(a|aa)*b$")',
];

const OF_LISTS: readonly string[] = [
  'args.a in args.l',
  'args in args.l',
  'args.l != args.l',
  'args.l == args.a + ["x"]',
  'args.l.exists(x, x == args.a)',
  'args.l.exists(x, x.contains("aaaaaaaaaaaab"))',
  'args.l.exists(x, "aaaaaaaaaaaab".contains(x + "y"))',
  'args.l.exists(x, x.lowerAscii() == "b")',
  'args.l.exists(x, x.size() == 1)',
  'args.l.map(x, x + "b").size() == 1',
  'args.l.map(x, x + "b") == args.l',
  'args.l.filter(x, x != "b") == [1]',
  'args.l.exists(x, type(x) == int || type(x) == bool)',
  'args.l.exists(x, timestamp(x) == now)',
  'args.l.exists(x, int(x) == 1)',
  'args.l.exists(x, int(x) == 1 || int(x) == 2)',
  'args.l.exists(x, double(x) == 1.0 || double(x) == 2.0)',
  'args.l.exists(x, duration(x) < duration("1s"))',
  'args.l.exists(x, x < 1 || x < 2)',
  'args.l.exists(x, x.y == 1 || x.y == 2)',
  'args.l.exists(x, x[9] == 1 || x[8] == 1)',
  'args.l.exists(x, args[x] == 1)',
];

const compiled = (expression: string, count: number): CompiledPolicy => {
  const rules = Array.from(
    { length: count },
    (_, index) => `  - id: r${index}\n    when: |\n      ${expression}\n    decision: deny\n`,
  );
  const result = compilePolicy(`version: 1\ndefault: allow\nrules:\n${rules.join('')}`);
  if (!result.ok) throw new Error(`${expression}: ${result.diagnostics[0]?.message ?? ''}`);
  return result.policy;
};

/** As many rules of it as go unwatched; null where a single one is watched. */
const fullOf = (expression: string): CompiledPolicy | null => {
  const fitting = Math.floor(UNWATCHED_STEPS_MAX / compiled(expression, 1).cost);
  return fitting === 0 ? null : compiled(expression, Math.min(20, fitting));
};

/** The least of some runs: the first ones are cold, and a machine may be busy. */
const processorMs = (limitMs: number, work: () => void): number => {
  let usedMs = Number.POSITIVE_INFINITY;
  for (let tries = 0; tries < TRIES && usedMs >= limitMs; tries += 1) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    usedMs = Math.min(usedMs, (user + system) / 1_000);
  }
  return usedMs;
};

const slowCases = (
  policy: CompiledPolicy,
  calls: Readonly<Record<string, JsonObject>>,
  limitMs: number,
): readonly string[] =>
  Object.entries(calls).flatMap(([name, args]) => {
    const input = policyInput({ args });
    const usedMs = processorMs(limitMs, () => evaluatePolicy(policy, input));
    return usedMs < limitMs ? [] : [`${name}: ${usedMs.toFixed(1)} ms`];
  });

const EXPRESSIONS = [
  ...OF_TEXTS.map((expression) => [expression.slice(0, 60), expression, TEXTS] as const),
  ...OF_LISTS.map((expression) => [expression.slice(0, 60), expression, LISTS] as const),
];
const UNWATCHED = EXPRESSIONS.flatMap(([title, expression, calls]) => {
  const policy = fullOf(expression);
  return policy === null ? [] : [[title, policy, calls] as const];
});

describe('policy evaluation: what goes unwatched is surely short, whatever the arguments', () => {
  it('most hostile conditions are unwatched at least alone', () => expect(UNWATCHED.length).toBeGreaterThan(35));

  it.each(UNWATCHED)('%s', (_, policy, calls) => expect(slowCases(policy, calls, UNWATCHED_LIMIT_MS)).toEqual([]));
});

describe('policy evaluation: what is watched ends at its limit, whatever native call it is in', () => {
  it.each(EXPRESSIONS)('%s', (_, expression, calls) => {
    const policy = compiled(expression, 40);
    expect(slowCases({ ...policy, cost: Infinity }, calls, WATCHED_LIMIT_MS)).toEqual([]);
  });
});

describe('policy evaluation: arguments of many values', () => {
  const ints = Array<number>(129_000).fill(7);
  const lists = Array.from({ length: 40_000 }, () => [[]]);
  const objects = Array.from({ length: 40_000 }, () => ({ a: 1 }));

  it('cost nothing where no condition reads them', () => {
    const policy = compiled('args.amount > 5', 1);
    const calls = { ints: { amount: 1, ints }, lists: { amount: 1, lists }, objects: { amount: 1, objects } };
    expect(slowCases(policy, calls, 5)).toEqual([]);
  });

  it('count like the rest of the evaluation where one does', () => {
    const policy = compiled('args.large.size() == 1', 1);
    const calls = { ints: { large: ints }, lists: { large: lists }, objects: { large: objects } };
    expect(slowCases(policy, calls, WATCHED_LIMIT_MS)).toEqual([]);
  });
});
