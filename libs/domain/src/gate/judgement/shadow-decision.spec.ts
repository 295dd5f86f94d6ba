import { describe, expect, it } from 'vitest';
import { policyInput } from '../../../../../test/support/given-policy-input.js';
import type { ActivePolicy } from '../../people/index.js';
import { compilePolicy, type LoadedPolicy } from '../../policies/index.js';
import { SLOW_POLICY } from '../../../../../test/support/given-slow-policy.js';
import { askShadow, shadowDecision } from './shadow-decision.js';

const SLOT = { policy: 'pol_1', versionId: 'pv_1', version: 1, versionHash: 'sha256:0' } as ActivePolicy;
const ASKED = { policy: 'pol_1', policy_version: 'pv_1' };
const RULE = 'version: 1\ndefault: deny\nrules:\n  - id: one\n    decision: allow\n    when: ';

const loaded = (source: string): LoadedPolicy => {
  const result = compilePolicy(source);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return { isUsable: true, policy: result.policy };
};
const said = (policy: LoadedPolicy, outcome: 'allow' | 'deny' | 'require_approval', limitMs?: number) =>
  shadowDecision(SLOT, askShadow(policy, policyInput({ args: { amount: 5 } }), limitMs), { outcome });

describe('a shadow decision', () => {
  it('is what the version would have decided, and differs if the outcomes do', () => {
    const policy = loaded(`${RULE}args.amount > 1\n`);
    const allowed = { outcome: 'allow', code: null, rule_id: 'one', reason: 'rule one', ...ASKED };
    expect(said(policy, 'allow')).toEqual({ ...allowed, differs: false });
    expect(said(policy, 'deny')).toEqual({ ...allowed, differs: true });
    expect(said(policy, 'require_approval')).toEqual({ ...allowed, differs: true });
  });

  it('denies if the condition has no answer, as if it were enforced', () =>
    expect(said(loaded(`${RULE}args.total > 1\n`), 'allow')).toMatchObject({
      outcome: 'deny',
      code: 'policy_unavailable',
      rule_id: 'one',
      differs: true,
    }));

  it('denies if the version cannot be used, as if it were enforced', () =>
    expect(said({ isUsable: false, reason: 'version does not compile' }, 'allow')).toEqual({
      outcome: 'deny',
      code: 'policy_unavailable',
      rule_id: null,
      reason: 'version does not compile',
      ...ASKED,
      differs: true,
    }));

  it('has no outcome and does not differ if its time was over', () => {
    const answer = askShadow(loaded(SLOW_POLICY), policyInput({ args: { amount: 1 } }), 1);
    expect(shadowDecision(SLOT, answer, { outcome: 'allow' })).toEqual({
      outcome: null,
      code: null,
      rule_id: null,
      reason: 'time limit',
      ...ASKED,
      differs: false,
    });
  });
});
