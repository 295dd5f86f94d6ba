import { digestOf, type Digest } from '#libs/crypto';
import type {
  ActionEvent,
  ApprovalTerms,
  ApproverAnswer,
  Claimant,
  Decision,
  EdgeReport,
  ExecutionOutcome,
  Submission,
} from '#libs/domain/gate';
import type { ActionId, AgentId, ApprovalId, ConnectorId, KeyId, OrgId, UserId } from '#libs/domain/kernel';
import { after, NOW } from './given.js';

export const ACTION = 'act_00000000000000000000000001' as ActionId;
export const ORG = 'org_00000000000000000000000001' as OrgId;
export const AGENT = 'agt_00000000000000000000000001' as AgentId;

const digest = digestOf('fixture');

export const submission: Submission = {
  action: ACTION,
  org: ORG,
  agent: AGENT,
  agent_name: 'support-1',
  key: 'key_00000000000000000000000001' as KeyId,
  livemode: false,
  tool: 'crm.update_customer',
  tool_truncated: false,
  connector: 'con_00000000000000000000000001' as ConnectorId,
  tool_digest: digest,
  side_effect: 'write',
  mode: 'gateway',
  args_digest: digest,
  request_digest: digest,
  comparison_digest: digest,
  idempotency_key_hash: null,
  on_behalf_of: null,
  session: null,
  intent_signed: false,
  intent_hash: null,
  input_digest: digest,
};

export const allowed: Decision = {
  outcome: 'allow',
  code: null,
  source: 'rule',
  rule_id: 'writes',
  reason: 'rule writes',
  message: null,
  policy: null,
  policy_version: null,
};

export const denied: Decision = {
  ...allowed,
  outcome: 'deny',
  code: 'policy_denied',
  source: 'default',
  rule_id: null,
  reason: 'default deny',
  message: 'No rule of the policy allows this call. Ask an admin if one should.',
};

export const TIMEOUT_MS = 10_000;
export const START_BY = after(300_000);

export const submitted: ActionEvent = { type: 'ActionSubmitted', data: { ...submission, at: NOW } };

export const decided = (decision: Decision): ActionEvent => ({
  type: 'ActionDecided',
  data: { action: ACTION, decision, at: NOW },
});

export const ready = (executionClass: 'once' | 'repeatable' = 'once'): ActionEvent => ({
  type: 'ExecutionReady',
  data: { action: ACTION, class: executionClass, timeout_ms: TIMEOUT_MS, start_by: START_BY, at: NOW },
});

export const started = (
  claim: string,
  attempt = 1,
  executionClass: 'once' | 'repeatable' = 'once',
  at = NOW,
  may_have_run = false,
): ActionEvent => ({
  type: 'ExecutionStarted',
  data: {
    action: ACTION,
    attempt,
    class: executionClass,
    executor: 'exe_1',
    claim,
    may_have_run,
    deadline: after(TIMEOUT_MS),
    at,
  },
});

export const succeeded: ExecutionOutcome = {
  status: 'succeeded',
  error_code: null,
  error_message: null,
  result_digest: digest,
  started_at: NOW,
  finished_at: after(20),
  latency_ms: 20,
};

export const failed: ExecutionOutcome = {
  ...succeeded,
  status: 'failed',
  error_code: 'upstream_not_found',
  error_message: 'The upstream service has nothing at that address.',
};

export const finished = (outcome: ExecutionOutcome, claim: string, attempt = 1, at = NOW): ActionEvent => ({
  type: 'ExecutionFinished',
  data: { ...outcome, action: ACTION, attempt, claim, at },
});

export const claimant: Claimant = { executor: 'exe_1', claim: 'c1' };
/** What `SubmitAction` says of an allowed call. */
export const execution = { class: 'once' as const, timeoutMs: TIMEOUT_MS, startBy: START_BY };

export const accepted = [submitted, decided(allowed), ready()];
export const running = [...accepted, started('c1')];
export const runningRepeatable = [submitted, decided(allowed), ready('repeatable'), started('c1', 1, 'repeatable')];

/** By when the agent reports a call that it runs itself. */
export const EDGE_DEADLINE = after(600_000);
export const atTheEdge: readonly ActionEvent[] = [
  { type: 'ActionSubmitted', data: { ...submission, mode: 'proxy', at: NOW } },
  decided(allowed),
  { type: 'EdgeAuthorized', data: { action: ACTION, deadline: EDGE_DEADLINE, at: NOW } },
];

export const edgeSucceeded: EdgeReport = {
  status: 'succeeded',
  started_at: NOW,
  finished_at: after(20),
  result_digest: digest,
  has_result: true,
  error_code: null,
  error_message: null,
};

export const edgeReported = (report: EdgeReport, at = NOW): ActionEvent => ({
  type: 'EdgeReported',
  data: { action: ACTION, at, ...report },
});

export const typesOf = (events: readonly ActionEvent[]) => events.map(({ type }) => type);

export const APPROVAL = 'apr_00000000000000000000000001' as ApprovalId;
export const EXPIRES_AT = after(3_600_000);

export const asked: Decision = { ...allowed, outcome: 'require_approval', rule_id: 'refunds', reason: 'rule refunds' };

const termsOf = (required = 1): ApprovalTerms => ({
  approval: APPROVAL,
  rule_id: 'refunds',
  approvers: ['role:admin'],
  required,
  context_digest: digest,
  expires_at: EXPIRES_AT,
});

export const requestedApproval = (required = 1, others: Partial<ApprovalTerms> = {}): ActionEvent => ({
  type: 'ApprovalRequested',
  data: { action: ACTION, at: NOW, ...termsOf(required), ...others },
});

/** An action that waits for so many people. */
export const pending = (required = 1): readonly ActionEvent[] => [
  submitted,
  decided(asked),
  requestedApproval(required),
];

export const userId = (number: number): UserId => `usr_${String(number).padStart(26, '0')}` as UserId;

export const answerOf = (by: UserId, changes: Partial<ApproverAnswer> = {}): ApproverAnswer => ({
  by,
  via: 'console',
  context_digest: digest,
  reason: null,
  ...changes,
});

export const signedBy = (answer: ApproverAnswer, at = NOW): ActionEvent => ({
  type: 'ApprovalCountersigned',
  data: { action: ACTION, approval: APPROVAL, at, ...answer },
});

export const decidedBy = (
  answer: ApproverAnswer,
  outcome: 'approved' | 'denied',
  toolDigest: Digest | null = digest,
  counted: readonly UserId[] = [answer.by],
  at = NOW,
): ActionEvent => ({
  type: 'ApprovalDecided',
  data: {
    action: ACTION,
    approval: APPROVAL,
    outcome,
    tool_digest: outcome === 'approved' ? toolDigest : null,
    ...(outcome === 'approved' ? { counted } : {}),
    at,
    ...answer,
  },
});

export const edge = { deadline: after(600_000) };
