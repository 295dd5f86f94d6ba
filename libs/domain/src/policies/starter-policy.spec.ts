import { describe, expect, it } from 'vitest';
import { policyInput } from '../../../../test/support/given-policy-input.js';
import { compilePolicy } from './compile-policy.js';
import { evaluatePolicy, type PolicyDecision } from './evaluate-policy.js';
import type { PolicyInput } from './policy-input.js';
import { STARTER_POLICY, STARTER_POLICY_WITH_DEMO } from './starter-policy.js';

const decide = (source: string, over: Partial<PolicyInput>): PolicyDecision => {
  const result = compilePolicy(source);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return evaluatePolicy(result.policy, policyInput(over), { limitMs: 5_000 });
};

describe('the starter policy beside the demo database', () => {
  it.each([
    ['demo.query', 'read', 'allow', 'reads'],
    ['demo.execute', 'write', 'require_approval', 'demo-changes'],
    ['demo.execute', 'destructive', 'deny', 'demo-keeps-its-rows'],
    ['demo.execute', 'unknown', 'deny', null],
  ] as const)('%s (%s) is %s, by %s', (tool, sideEffect, outcome, ruleId) =>
    expect(decide(STARTER_POLICY_WITH_DEMO, { tool, side_effect: sideEffect })).toMatchObject({ outcome, ruleId }),
  );

  it.each(['read', 'write', 'destructive', 'unknown'] as const)(
    'decides every other tool as it does without the demo: %s',
    (sideEffect) => {
      const call = { tool: 'crm.note', side_effect: sideEffect };
      expect(decide(STARTER_POLICY_WITH_DEMO, call)).toEqual(decide(STARTER_POLICY, call));
    },
  );

  it('asks one admin or owner, for an hour', () =>
    expect(decide(STARTER_POLICY_WITH_DEMO, { tool: 'demo.execute', side_effect: 'write' }).approval).toEqual({
      approvers: ['role:admin'],
      required: 1,
      expiresInS: 3_600,
    }));

  it('says to the agent how its statement would go through', () =>
    expect(decide(STARTER_POLICY_WITH_DEMO, { tool: 'demo.execute', side_effect: 'destructive' }).message).toMatch(
      /^Agents delete no rows .* WHERE, or ask an admin\.$/,
    ));
});
