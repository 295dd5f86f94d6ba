import { describe, expect, it } from 'vitest';
import type { Schemas } from '../kernel/client.ts';
import { decidedBecause, type Reason, whyOf } from './why.ts';

const DENIED: Reason = {
  ...{ outcome: 'deny', code: 'policy_denied', source: 'rule', rule_id: 'no-exports' },
  policy_version: 'pv_01h2xcejqtf2nbrexx3vqjhp44',
};
const because = (change: Partial<Reason>): string => decidedBecause({ ...DENIED, ...change });

describe('the reason of a decision', () => {
  it.each<[words: string, change: Partial<Reason>]>([
    ['rule no-exports', {}],
    ['no rule allows it', { source: 'default', rule_id: null }],
    ['no policy was enforced', { source: 'default', rule_id: null, policy_version: null }],
    ['the policy’s default', { source: 'default', rule_id: null, outcome: 'allow', code: null }],
    // A decision by a Stop names the enforced version too, which was not asked.
    ['all agents were stopped', { source: 'stop', rule_id: null, code: 'org_stopped' }],
    ['the agent was stopped', { source: 'stop', rule_id: null, code: 'agent_stopped' }],
    ['the agent was suspended', { source: 'stop', rule_id: null, code: 'agent_suspended' }],
    ['budget used up', { source: 'budget', rule_id: null, code: 'budget_exceeded' }],
    ['budget in a different currency', { source: 'budget', rule_id: null }],
    ['no connector provides this tool', { source: 'builtin', rule_id: null, code: 'tool_unknown' }],
    ['not enough approvers', { source: 'builtin', code: 'approval_unsatisfiable' }],
    ['the policy could not be evaluated', { source: 'builtin', code: 'policy_unavailable' }],
  ])('%s', (words, change) => expect(because(change)).toBe(words));
});

describe('the reason of a status in a list', () => {
  const why = (action: object): string | null =>
    whyOf({ decision: DENIED, execution: null, ...action } as unknown as Schemas['Action']);
  const asked = { ...DENIED, outcome: 'require_approval', code: null };

  it.each([
    ['rule no-exports', { status: 'denied' }],
    ['by a person', { status: 'denied', decision: asked }],
    ['no decision in time', { status: 'expired', decision: asked }],
    ['upstream_refused', { status: 'failed', execution: { error_code: 'upstream_refused' } }],
    [null, { status: 'executed' }],
    [null, { status: 'denied', decision: null }],
  ])('%s', (words, action) => expect(why(action)).toBe(words));
});
