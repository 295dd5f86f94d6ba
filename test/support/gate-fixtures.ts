import { digestOf } from '#libs/crypto';
import type { ActionEvent, Decision, ExecutionOutcome, Submission } from '#libs/domain/gate';
import type { ActionId, AgentId, ConnectorId, KeyId, OrgId } from '#libs/domain/kernel';
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
