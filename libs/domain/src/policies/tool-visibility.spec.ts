import { describe, expect, it } from 'vitest';
import { compilePolicy } from './compile-policy.js';
import { visibilityTo } from './tool-visibility.js';

const AGENT = { id: 'agt_1', name: 'support-1', labels: { team: 'support' } };

const POLICY = `version: 1
default: deny
rules:
  - id: not-for-interns
    match:
      agents:
        - intern-*
    decision: deny
  - id: sales-only
    match:
      labels:
        team: sales
    decision: allow
  - id: no-deletes
    match:
      tools:
        - '*.delete_*'
    decision: deny
  - id: small-refunds
    match:
      tools:
        - pay.refund
    when: args.amount > 100
    decision: deny
  - id: proxied
    match:
      tools:
        - files.*
      mode: proxy
    decision: deny
  - id: destructive
    match:
      tools:
        - disk.*
      side_effect: destructive
    decision: deny
  - id: read
    match:
      tools:
        - crm.*
    decision: allow
`;

const shown = (tool: string, agent = AGENT, source = POLICY) => {
  const result = compilePolicy(source);
  if (!result.ok) return expect.fail(JSON.stringify(result.diagnostics));
  const { visibility, ruleId, reason } = visibilityTo(result.policy, agent)(tool);
  return [visibility, ruleId, reason];
};

describe('a tool is', () => {
  it.each([
    ['visible where the first rule that covers it allows', 'crm.get', ['visible', 'read', 'rule read']],
    ['hidden where that rule denies', 'crm.delete_all', ['hidden', 'no-deletes', 'rule no-deletes']],
    ['visible where that rule has a condition', 'pay.refund', ['visible', 'small-refunds', 'rule small-refunds']],
    ['visible where that rule looks at the mode', 'files.read', ['visible', 'proxied', 'rule proxied']],
    ['visible where that rule looks at the side effect', 'disk.wipe', ['visible', 'destructive', 'rule destructive']],
    ['hidden by a default that denies', 'chat.post', ['hidden', null, 'default deny']],
  ])('%s', (_rule, tool, expected) => expect(shown(tool)).toEqual(expected));

  it('visible by a default that allows', () => {
    expect(shown('chat.post', AGENT, POLICY.replace('default: deny', 'default: allow'))).toEqual([
      'visible',
      null,
      'default allow',
    ]);
  });

  it('judged by the rules that cover the agent, by name and labels', () => {
    expect(shown('crm.get', { ...AGENT, name: 'intern-1' })).toEqual([
      'hidden',
      'not-for-interns',
      'rule not-for-interns',
    ]);
    expect(shown('chat.post', { ...AGENT, labels: { team: 'sales' } })).toEqual([
      'visible',
      'sales-only',
      'rule sales-only',
    ]);
  });
});
