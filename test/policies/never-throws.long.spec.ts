import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#libs/crypto';

import { compilePolicy, evaluatePolicy, STARTER_POLICY } from '#libs/domain/policies';
import { policyInput } from '../support/given-policy-input.js';

const VALID = `version: 1
default: deny
rules:
  - id: one
    match:
      tools:
        - crm.*
      labels:
        team: "s*"
    when: has(args.a) && args.a.all(x, x.b <= 5 || x.c in ["d"]) && request.http.method == "GET"
    decision: allow
  - id: two
    when: |
      args.n + 1 > 2 && args.text.matches("^[a-z]+$") || user.ref == args.text
    decision: deny
    message: No.
`;

const outcome = (source: string): string => {
  const result = compilePolicy(source);
  if (result.ok) return 'ok';
  const isPlaced = result.diagnostics.every(
    ({ line, column, message, hint }) => line > 0 && column > 0 && message && hint,
  );
  return result.diagnostics.some(({ severity }) => severity === 'error') && isPlaced ? 'refused' : 'unexplained';
};

/** A valid source with pieces cut out, doubled or replaced: closer to what people send than noise. */
const damaged = fc
  .tuple(
    fc.constantFrom(VALID, STARTER_POLICY),
    fc.array(fc.tuple(fc.nat(700), fc.nat(40), fc.string({ unit: 'binary', maxLength: 6 })), {
      minLength: 1,
      maxLength: 4,
    }),
  )
  .map(([source, cuts]): string =>
    cuts.reduce<string>((text, [at, length, piece]) => text.slice(0, at) + piece + text.slice(at + length), source),
  );

describe('policies: nothing a caller sends is an exception', () => {
  it('any text is compiled or refused with placed diagnostics', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (source) => {
        expect(outcome(source)).not.toBe('unexplained');
      }),
      { numRuns: 1_000 },
    ));

  it('any damage to a policy is compiled or refused with placed diagnostics', () =>
    fc.assert(
      fc.property(damaged, (source) => {
        expect(outcome(source)).not.toBe('unexplained');
      }),
      { numRuns: 3_000 },
    ));

  it('any arguments are decided, and a refusal for want of an answer is told as such', () => {
    const result = compilePolicy(VALID);
    if (!result.ok) throw new Error('the policy does not compile');
    const { policy } = result;
    const value = fc.jsonValue({ maxDepth: 4 });
    const args = fc.record(
      {
        a: fc.oneof(value, fc.array(fc.record({ b: value, c: value }, { requiredKeys: [] }))),
        n: value,
        text: fc.oneof(value, fc.string()),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(args, fc.boolean(), (given, hasRequest) => {
        const decision = evaluatePolicy(
          policy,
          policyInput({
            args: given as JsonObject,
            request: hasRequest ? { http: { method: 'GET', path: '/', host: 'a.example' } } : {},
          }),
          { limitMs: 5_000 },
        );
        expect(decision.code === 'policy_unavailable').toBe(decision.source === 'builtin');
        expect(decision.outcome === 'allow').toBe(decision.code === null);
      }),
      { numRuns: 2_000 },
    );
  });
});
