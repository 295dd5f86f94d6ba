import { describe, expect, it } from 'vitest';

import { compilePolicy, compilePolicyInTurns, type CompiledPolicy, evaluatePolicy } from '#libs/domain/policies';
import { policyInput } from '../support/given-policy-input.js';
import { HOSTILE_SOURCES, LARGE_POLICIES, LONG_POLICIES } from './policy-bombs.js';

/**
 * A hang is red: work that grows with the square of such a source takes minutes. How long the longest of them holds the
 * event loop is a figure of `npm run bench`, not of a test that shares its machine.
 */
const HANG_MS = 20_000;

describe('hostile policy sources: refused with diagnostics, without a hang', () => {
  it('there are at least 50', () => expect(HOSTILE_SOURCES.length).toBeGreaterThanOrEqual(50));

  it.each(HOSTILE_SOURCES)(
    '%s',
    (_, source) => {
      const result = compilePolicy(source);
      expect(result.ok).toBe(false);
      if (!result.ok) expect(result.diagnostics.length).toBeGreaterThan(0);
    },
    HANG_MS,
  );
});

describe('large policies that say what they may', () => {
  it.each(LARGE_POLICIES)(
    '%s: compile without a hang',
    (_, source) => expect(compilePolicy(source).ok).toBe(true),
    HANG_MS,
  );

  it.each(LONG_POLICIES)('%s: in turns, with others between them', async (_, source) => {
    let rounds = 0;
    let isOver = false;
    const others = (): void => {
      rounds += 1;
      if (!isOver) setImmediate(others);
    };
    setImmediate(others);
    const result = await compilePolicyInTurns(source);
    isOver = true;
    expect(result).toMatchObject({ ok: true, policy: { versionHash: hashOf(source) } });
    expect(rounds).toBeGreaterThan(10);
  });
});

const hashOf = (source: string): string | null => {
  const result = compilePolicy(source);
  return result.ok ? result.policy.versionHash : null;
};

const inRule = (expression: string): string =>
  `version: 1\ndefault: deny\nrules:\n  - id: bomb\n    when: |\n      ${expression}\n    decision: allow\n`;

const nest = (depth: number, range: string): string => {
  let body = 'true';
  for (let level = 0; level < depth; level += 1) body = `${range}.all(v${level}, ${body})`;
  return body;
};

/** Expressions that would take long, by family; each is varied by a number. */
const FAMILIES: readonly (readonly [string, (variant: number) => string])[] = [
  ['more than 2,048 characters', (variant) => `args.a == "${'x'.repeat(2_040 + variant)}"`],
  ['deep brackets', (variant) => `${'('.repeat(33 + variant)}true${')'.repeat(33 + variant)}`],
  ['depth 500', (variant) => `${'['.repeat(500 + variant)}${']'.repeat(500 + variant)} == args.a`],
  ['nested conditions on every item', (variant) => nest(2 + (variant % 5), 'args.list')],
  ['nested conditions on literals', (variant) => nest(6 + (variant % 3), '[1,2,3,4,5,6,7,8,9,10]')],
  ['bad patterns', (variant) => `tool.matches("${'('.repeat(1 + (variant % 9))}a")`],
  ['patterns RE2 does not have', (variant) => `tool.matches("(a+)\\\\${1 + (variant % 9)}")`],
  ['patterns that repeat repeats', (variant) => `tool.matches("((a{${100 + variant}}){${100 + variant}}){100}")`],
  [
    'texts added to themselves',
    (variant) =>
      `size(${Array(40 + variant)
        .fill('args.text')
        .join(' + ')}) > 1`,
  ],
  ['lists of lists', (variant) => `args.list.map(a, args.list.map(b, [a, b, ${variant}])).size() > 1`],
];

describe('hostile conditions: refused when they are saved', () => {
  const bombs = FAMILIES.flatMap(([family, make]) =>
    Array.from({ length: 50 }, (_, variant) => [`${family} ${variant}`, make(variant)] as const),
  );

  it('there are 500', () => expect(bombs).toHaveLength(500));
  it.each(FAMILIES)('%s', (_, make) => {
    for (let variant = 0; variant < 50; variant += 1) {
      expect({ variant, ok: compilePolicy(inRule(make(variant))).ok }).toEqual({ variant, ok: false });
    }
  });
});

const input = policyInput({
  args: { amount: 5, text: 'x'.repeat(1_000), list: Array.from({ length: 300 }, (_, index) => index) },
});

/** A policy whose condition was not stopped by the estimate of its cost: the limit alone is left. */
const unbounded = (evaluate: () => boolean): CompiledPolicy => {
  const result = compilePolicy(inRule('args.amount <= 5000'));
  if (!result.ok) throw new Error('the policy does not compile');
  const [rule] = result.policy.rules;
  return { ...result.policy, cost: Infinity, rules: [{ ...rule!, when: { ...rule!.when!, evaluate } }] };
};

const BOMBS: readonly (() => boolean)[] = [
  () => {
    for (;;);
  },
  () => {
    const items = Array.from({ length: 300 }, (_, index) => BigInt(index));
    return items.every((a) => items.every((b) => items.every((c) => items.every((d) => a + b + c + d >= 0n))));
  },
  () => {
    let text = 'x';
    for (;;) text = text.split('').reverse().join('');
  },
  () => {
    const endless = (): boolean => {
      try {
        return endless();
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        return endless();
      }
    };
    return endless();
  },
];

const explode = (count: number, limitMs: number): void => {
  for (let index = 0; index < count; index += 1) {
    const bomb = BOMBS[index % BOMBS.length]!;
    expect(evaluatePolicy(unbounded(bomb), input, { limitMs })).toMatchObject({
      outcome: 'deny',
      code: 'policy_unavailable',
      source: 'builtin',
      reason: 'time limit',
      timeLimitTripped: true,
    });
  }
};

describe('evaluations without end: ended at the limit, refused, and told', () => {
  it('1,000 of them, one after another, at a limit of 2 ms', () => explode(1_000, 2));
  it('20 of them at the limit of the service, each of which has its whole time', () => {
    const before = process.cpuUsage();
    explode(20, 50);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000 / 20).toBeGreaterThanOrEqual(50);
  });
  it('an ordinary evaluation after them is judged as ever', () => {
    const result = compilePolicy(inRule('args.amount <= 5000'));
    expect(result.ok && evaluatePolicy(result.policy, input)).toMatchObject({
      outcome: 'allow',
      timeLimitTripped: false,
    });
  });
});
