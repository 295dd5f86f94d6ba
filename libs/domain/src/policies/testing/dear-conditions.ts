import type { JsonObject } from '#libs/crypto';

import { compilePolicy } from '../compile-policy.js';
import type { CompiledPolicy } from '../compiled-policy.js';
import { UNWATCHED_STEPS_MAX } from '../evaluate-policy.js';

/** The arguments of a call are 256 KiB at most (rule FORM-7), of which some are names and marks. */
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

export const policyOf = (expression: string, count: number): CompiledPolicy => {
  const rules = Array.from(
    { length: count },
    (_, index) => `  - id: r${index}\n    when: |\n      ${expression}\n    decision: deny\n`,
  );
  const result = compilePolicy(`version: 1\ndefault: allow\nrules:\n${rules.join('')}`);
  if (!result.ok) throw new Error(`${expression}: ${result.diagnostics[0]?.message ?? ''}`);
  return result.policy;
};

/** A policy of as many such rules as go unwatched; null where a single one is watched. */
const fullOf = (expression: string): CompiledPolicy | null => {
  const fitting = Math.floor(UNWATCHED_STEPS_MAX / policyOf(expression, 1).cost);
  return fitting === 0 ? null : policyOf(expression, Math.min(20, fitting));
};

/** A condition that takes long, and calls that make it so. */
export interface DearCondition {
  readonly title: string;
  readonly expression: string;
  readonly calls: Readonly<Record<string, JsonObject>>;
}

export const DEAR_CONDITIONS: readonly DearCondition[] = [
  ...OF_TEXTS.map((expression) => ({ title: expression.slice(0, 60), expression, calls: TEXTS })),
  ...OF_LISTS.map((expression) => ({ title: expression.slice(0, 60), expression, calls: LISTS })),
];

/** The same conditions, each in as many rules as are judged without a watch over the clock. */
export const UNWATCHED_POLICIES: readonly (DearCondition & { readonly policy: CompiledPolicy })[] =
  DEAR_CONDITIONS.flatMap((condition) => {
    const policy = fullOf(condition.expression);
    return policy === null ? [] : [{ ...condition, policy }];
  });

/** Arguments of more values than are judged without a watch. */
export const MANY_VALUES: Readonly<Record<string, JsonObject>> = {
  integers: { amount: 1, large: Array<number>(129_000).fill(7) },
  lists: { amount: 1, large: Array.from({ length: 40_000 }, () => [[]]) },
  objects: { amount: 1, large: Array.from({ length: 40_000 }, () => ({ a: 1 })) },
};
