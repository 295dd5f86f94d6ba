import { describe, expect, it } from 'vitest';
import { policyInput } from '../../../../test/support/given-policy-input.js';
import { compilePolicy } from './compile-policy.js';
import type { CompiledPolicy } from './compiled-policy.js';
import { evaluatePolicy } from './evaluate-policy.js';
import { tracePolicy } from './trace-policy.js';

const compiled = (source: string): CompiledPolicy => {
  const result = compilePolicy(source);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.policy;
};

const POLICY = compiled(`version: 1
default: deny
rules:
  - id: other-tool
    match:
      tools:
        - pay.*
    decision: deny
  - id: other-agent
    match:
      agents:
        - sales-*
    decision: deny
  - id: other-label
    match:
      labels:
        team: sales
    decision: deny
  - id: other-mode
    match:
      mode: proxy
    decision: deny
  - id: other-effect
    match:
      side_effect: destructive
    decision: deny
  - id: by-request
    when: request.http.method == "GET"
    decision: allow
  - id: too-much
    when: args.amount > 100
    decision: deny
  - id: enough
    when: args.amount > 10
    decision: require_approval
  - id: never-reached
    when: args.amount > 1
    decision: allow
`);
const PASSED = [
  ['other-tool', 'tools'],
  ['other-agent', 'agents'],
  ['other-label', 'labels'],
  ['other-mode', 'mode'],
  ['other-effect', 'side_effect'],
  ['by-request', 'fact_missing'],
];
const traceOf = (args: object) => {
  const input = policyInput({ args: args as never });
  return {
    trace: tracePolicy(POLICY, input).map(({ ruleId, why }) => [ruleId, why]),
    decidedBy: evaluatePolicy(POLICY, input).ruleId,
  };
};

describe('a trace', () => {
  it('tells why each rule was passed over, up to the one that decides', () =>
    expect(traceOf({ amount: 50 })).toEqual({
      trace: [...PASSED, ['too-much', 'when_false'], ['enough', 'applies']],
      decidedBy: 'enough',
    }));

  it('ends at a condition without an answer, as the decision does', () =>
    expect(traceOf({})).toEqual({ trace: [...PASSED, ['too-much', 'no_answer']], decidedBy: 'too-much' }));

  it('has every rule where the default decides', () => {
    const { trace, decidedBy } = traceOf({ amount: 0 });
    expect([trace.length, trace.at(-1), decidedBy]).toEqual([9, ['never-reached', 'when_false'], null]);
  });

  it('ends where its time does', () => {
    const slow = compiled(`version: 1
default: deny
rules:
  - id: first
    when: args.items.all(x, x * 3 + 1 > 0 && x * 5 + 2 > 0 && x * 7 + 3 > 0) && args.items.size() == 0
    decision: allow
`);
    const items = Array.from({ length: 1_000 }, (_, index) => index);
    expect(tracePolicy(slow, policyInput({ args: { items } }), 1)).toEqual([]);
  });
});
