import type { JsonObject, JsonValue } from '#libs/crypto';
import { describe, expect, it, vi } from 'vitest';

import { policyInput } from '../../../../test/support/given-policy-input.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { evaluatePolicy, UNWATCHED_VALUES_MAX } from './evaluate-policy.js';
import { DEAR_CONDITIONS, MANY_VALUES, policyOf, UNWATCHED_POLICIES } from './testing/dear-conditions.js';

/** Twenty times what the longest takes, in processor time: what is not over by then was not surely short. */
const HANG_MS = 500;

/** What does not end by itself does not at any try; one that was cut off while the machine did other work ends at the next. */
const TRIES = 3;

/** The calls whose evaluation would not have ended by itself. */
const endless = (policy: CompiledPolicy, calls: Readonly<Record<string, JsonObject>>): readonly string[] =>
  Object.entries(calls)
    .filter(([, args]) => Array.from({ length: TRIES }).every(() => isCutOff(policy, args)))
    .map(([name]) => name);

const isCutOff = (policy: CompiledPolicy, args: JsonObject): boolean =>
  evaluatePolicy({ ...policy, cost: Infinity }, policyInput({ args }), { limitMs: HANG_MS }).timeLimitTripped;

describe('policy evaluation: what goes unwatched ends by itself, whatever the arguments', () => {
  it('most hostile conditions are unwatched at least alone', () =>
    expect(UNWATCHED_POLICIES.length).toBeGreaterThan(35));

  it.each(UNWATCHED_POLICIES)('$title', ({ policy, calls }) => expect(endless(policy, calls)).toEqual([]));
});

describe('policy evaluation: what is watched ends, decided or at its limit, whatever native call it is in', () => {
  it.each(DEAR_CONDITIONS)('$title', ({ expression, calls }) => {
    const policy = { ...policyOf(expression, 40), cost: Infinity };
    for (const args of Object.values(calls)) {
      const { timeLimitTripped, code } = evaluatePolicy(policy, policyInput({ args }));
      // Without its time there is no decision but the refusal that says so.
      if (timeLimitTripped) expect(code).toBe('policy_unavailable');
    }
  });
});

describe('policy evaluation: arguments of many values', () => {
  it('are not looked at where no condition reads them', () => {
    const policy = policyOf('args.amount > 5', 1);
    for (const [name, args] of Object.entries(MANY_VALUES)) {
      const read = vi.fn<(at: string) => void>();
      const watched = {
        ...args,
        large: new Proxy(args['large'] as JsonValue[], {
          get: (target, member) => {
            read(String(member));
            return Reflect.get(target, member) as unknown;
          },
        }),
      };
      expect(evaluatePolicy(policy, policyInput({ args: watched }))).toMatchObject({ source: 'default' });
      expect({ name, few: read.mock.calls.length < 2 * UNWATCHED_VALUES_MAX }).toEqual({ name, few: true });
    }
  });

  it('count like the rest of the evaluation where one does', () => {
    const policy = policyOf('args.large.size() == 1', 1);
    for (const args of Object.values(MANY_VALUES)) {
      const { timeLimitTripped, source } = evaluatePolicy(policy, policyInput({ args }));
      expect(source).toBe(timeLimitTripped ? 'builtin' : 'default');
    }
  });
});
