import type { ErrorCode, ErrorType } from '#libs/domain/kernel';

/**
 * Every code with its status and its type, written once more: what clients were promised does not follow the source.
 */
export const PROMISED: readonly (readonly [status: number, type: ErrorType, codes: string])[] = [
  [
    400,
    'invalid_request_error',
    `validation_failed invalid_json api_version_invalid idempotency_key_invalid login_link_invalid login_code_invalid
     passkey_invalid
     policy_invalid destination_blocked statement_refused row_limit_exceeded payments_live_key_refused from_denied
     replay_too_large replay_window_invalid`,
  ],
  [
    401,
    'authentication_error',
    `invalid_api_key api_key_revoked api_key_expired authentication_required session_expired approval_link_invalid`,
  ],
  [
    403,
    'permission_error',
    `agent_suspended agent_stopped org_stopped insufficient_scope intent_required intent_invalid intent_replay csrf_failed
     recent_sign_in_required insufficient_role approver_not_eligible self_approval approval_needs_passkey approval_needs_person
     approval_link_review_only approver_unmapped pro_required`,
  ],
  [
    403,
    'policy_error',
    `policy_denied approval_required policy_unavailable approval_unsatisfiable schedule_needs_approval`,
  ],
  [404, 'invalid_request_error', `tool_unknown not_found`],
  [405, 'invalid_request_error', `method_not_allowed`],
  [
    409,
    'invalid_request_error',
    `approval_expired conflict idempotency_key_in_use last_owner credentials_missing witness_not_configured
     ledger_inconsistent
     approval_decided already_countersigned context_changed action_executing undo_unavailable undo_plan_stale
     already_undone undo_conflict suggestion_stale shadow_slot_taken suggestion_decided observe_not_enabled`,
  ],
  [413, 'invalid_request_error', `request_too_large`],
  [415, 'invalid_request_error', `unsupported_media_type`],
  [422, 'invalid_request_error', `idempotency_conflict`],
  [429, 'rate_limit_error', `budget_exceeded approval_limit_reached rate_limited upstream_rate_limited`],
  [500, 'api_error', `internal_error`],
  [
    502,
    'api_error',
    `upstream_error upstream_auth_failed upstream_not_found response_too_large payments_livemode_detected
     upstream_approval_pending`,
  ],
  [
    503,
    'api_error',
    `connector_unavailable service_unavailable vault_unavailable database_role_unsafe database_not_ready`,
  ],
  [504, 'api_error', `timeout`],
];

/** Codes that no source raises yet, and the capability that will. A code leaves with the first that does. */
export const NOT_YET_RAISED: Partial<Readonly<Record<ErrorCode, string>>> = {
  action_executing: 'nothing: a cancel of what executes is answered with conflict',
  from_denied: 'mail connector',
  undo_unavailable: 'undo',
  undo_plan_stale: 'undo',
  already_undone: 'undo',
  undo_conflict: 'undo',
  suggestion_stale: 'suggestions',
  suggestion_decided: 'suggestions',
  observe_not_enabled: 'observe mode',
  pro_required: 'paid tier',
  approval_required: 'approvals',
  schedule_needs_approval: 'approvals',
};

/** Codes that a rule below raises and that no request of today reaches; the spec and the test that prove the rule. */
export const PROVEN_BELOW: Partial<Readonly<Record<ErrorCode, { readonly spec: string; readonly title: string }>>> = {
  // No chat reaches the service over HTTP; whoever brings one calls the domain's port.
  approver_unmapped: {
    spec: 'test/approvals/chat-approvals.spec.ts',
    title: 'is refused where the account is nobody’s',
  },
  // Calls of a database, which the stage of these tests has none of.
  statement_refused: {
    spec: 'test/connectors/database-witness.long.spec.ts',
    title: 'a statement that is refused is a failed action that sent nothing',
  },
  row_limit_exceeded: {
    spec: 'test/connectors/database-witness.long.spec.ts',
    title: 'more rows than the config allows are rolled back',
  },
  database_role_unsafe: {
    spec: 'libs/infra/src/connectors/database/refused-sessions.spec.ts',
    title: 'a member, also through another role, of what reads files of the server',
  },
  payments_livemode_detected: {
    spec: 'libs/infra/src/connectors/payments/payments-driver.spec.ts',
    title: 'trips the breaker, and nobody knows what became of the call',
  },
  upstream_approval_pending: {
    spec: 'libs/infra/src/connectors/payments/payments-driver.spec.ts',
    title: 'an approval of the processor',
  },
  database_not_ready: {
    spec: 'libs/infra/src/connectors/database/refused-sessions.spec.ts',
    title: 'a database without the slot that a witness needs takes no writes',
  },
};
