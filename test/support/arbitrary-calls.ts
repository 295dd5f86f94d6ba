import fc from 'fast-check';
import { canonicalize, digestOf } from '#libs/crypto';
import type { ApprovalStatus } from '#libs/domain/gate';
import { compilePolicy, type CompiledPolicy } from '#libs/domain/policies';
import type { RecordedCall } from '#libs/domain/replays';
import { testId, testTime } from './given-log.js';
import { policyInput } from './given-policy-input.js';

/** A candidate that says everything that a policy can say of {@link someCalls}. */
export const CANDIDATE = `version: 1
default: deny
rules:
  - id: read
    match:
      tools:
        - crm.get_*
    decision: allow
  - id: small
    match:
      tools:
        - pay.*
    when: args.amount < 100
    decision: allow
  - id: large
    match:
      tools:
        - pay.*
    decision: require_approval
`;

export const compiled = (source: string): CompiledPolicy => {
  const result = compilePolicy(source);
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return result.policy;
};

/** What the log can say of a call that a policy may have been asked about. */
const RECORDED: readonly Pick<RecordedCall, 'decision' | 'errorCode' | 'approval'>[] = [
  { decision: 'allow', errorCode: null, approval: null },
  { decision: 'allow', errorCode: 'upstream_error', approval: null },
  { decision: 'deny', errorCode: 'policy_denied', approval: null },
  { decision: 'deny', errorCode: 'policy_unavailable', approval: null },
  { decision: 'deny', errorCode: 'approval_unsatisfiable', approval: null },
  { decision: 'deny', errorCode: 'agent_stopped', approval: null },
  { decision: 'deny', errorCode: 'budget_exceeded', approval: null },
  { decision: 'deny', errorCode: 'tool_unknown', approval: null },
  { decision: null, errorCode: null, approval: null },
  ...(['pending', 'approved', 'denied', 'expired', 'cancelled'] satisfies ApprovalStatus[]).map(
    (approval) => ({ decision: 'require_approval', errorCode: null, approval }) as const,
  ),
];

const TOOLS = ['crm.get_customer', 'crm.remove', 'pay.refund'];

interface Draft {
  readonly tool: string;
  readonly agent: number;
  readonly recorded: (typeof RECORDED)[number];
  readonly amount: number | string;
  readonly stored: 'whole' | 'removed' | 'damaged';
}

const draft: fc.Arbitrary<Draft> = fc.record({
  tool: fc.constantFrom(...TOOLS),
  agent: fc.integer({ min: 1, max: 3 }),
  recorded: fc.constantFrom(...RECORDED),
  // Text has no answer to the condition.
  amount: fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constant('much')),
  stored: fc.oneof({ weight: 8, arbitrary: fc.constant('whole' as const) }, fc.constantFrom('removed', 'damaged')),
});

const callOf = ({ tool, agent, recorded, amount, stored }: Draft, index: number): RecordedCall => {
  const body = canonicalize(policyInput({ tool, args: { amount } }));
  return {
    // Two share a moment: only the id tells them apart.
    action: testId('act', index + 1),
    createdAt: testTime(Math.floor(index / 2)),
    agent: testId('agt', agent),
    tool,
    ...recorded,
    inputDigest: digestOf(body),
    input: stored === 'removed' ? null : stored === 'damaged' ? `${body} ` : body,
  };
};

/** Recorded calls of every kind, in the order of a replay. */
export const someCalls = (minLength: number, maxLength: number): fc.Arbitrary<readonly RecordedCall[]> =>
  fc.array(draft, { minLength, maxLength, size: 'max' }).map((drafts) => drafts.map(callOf));
