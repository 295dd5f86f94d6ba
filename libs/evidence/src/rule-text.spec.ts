import { expect, it } from 'vitest';
import { ruleIn } from './rule-text.js';

const SOURCE = `version: 1
default: deny
rules:
  - id: small
    match:
      tools: [crm.*]
    decision: allow

  # Money goes out.
  - match:
      tools:
        - payments.refund
    id: "refunds over 50"
    decision: require_approval
    approval:
      approvers: admins

  - id: 'last' # of them
    decision: deny
`;

it('a rule is shown as it stands, without what comes before and behind it', () => {
  expect(ruleIn(SOURCE, 'small')).toBe('- id: small\n  match:\n    tools: [crm.*]\n  decision: allow');
  expect(ruleIn(SOURCE, 'last')).toBe("- id: 'last' # of them\n  decision: deny");
});

it('an id need not be the first member of its rule', () => {
  expect(ruleIn(SOURCE, 'refunds over 50')).toMatch(/^- match:\n {4}tools:\n[^]*approvers: admins$/);
});

it.each([
  ['a rule that is not there', SOURCE, 'gone'],
  ['a policy written in one line', 'rules: [{id: small, decision: allow}]', 'small'],
  ['no policy at all', '', 'small'],
])('%s is left to the whole source', (_, source, id) => {
  expect(ruleIn(source, id)).toBeNull();
});
