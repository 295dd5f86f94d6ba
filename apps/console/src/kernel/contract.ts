// Made from the OpenAPI document by `npm run console:api`; a change here is lost.

export const DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;
export const KEY_FINGERPRINT_PATTERN = /^[0-9a-f]{32}$/;
export const REFERENCE_PATTERN = /^[A-Za-z0-9._~:@/+=-]{1,256}$/;
export const AGENT_ID_PATTERN = /^agt_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const USER_ID_PATTERN = /^usr_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const KEY_ID_PATTERN = /^key_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const ACTION_ID_PATTERN = /^act_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const APPROVAL_ID_PATTERN = /^apr_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const DEED_ID_PATTERN = /^deed_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const CONNECTOR_ID_PATTERN = /^con_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const POLICY_ID_PATTERN = /^pol_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const WEBHOOK_ID_PATTERN = /^whk_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const EVENT_ID_PATTERN = /^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const REPLAY_ID_PATTERN = /^rpl_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const POLICY_VERSION_ID_PATTERN = /^pv_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const ERROR_CODE_VALUES = [
  'approval_expired',
  'tool_unknown',
  'idempotency_conflict',
  'validation_failed',
  'not_found',
  'conflict',
  'method_not_allowed',
  'request_too_large',
  'unsupported_media_type',
  'invalid_json',
  'api_version_invalid',
  'idempotency_key_invalid',
  'idempotency_key_in_use',
  'login_link_invalid',
  'login_code_invalid',
  'passkey_invalid',
  'last_owner',
  'policy_invalid',
  'credentials_missing',
  'destination_blocked',
  'statement_refused',
  'row_limit_exceeded',
  'witness_not_configured',
  'ledger_inconsistent',
  'approval_decided',
  'already_countersigned',
  'context_changed',
  'payments_live_key_refused',
  'action_executing',
  'from_denied',
  'undo_unavailable',
  'undo_plan_stale',
  'already_undone',
  'undo_conflict',
  'replay_too_large',
  'replay_window_invalid',
  'suggestion_stale',
  'shadow_slot_taken',
  'suggestion_decided',
  'observe_not_enabled',
  'invalid_api_key',
  'api_key_revoked',
  'api_key_expired',
  'authentication_required',
  'session_expired',
  'approval_link_invalid',
  'agent_suspended',
  'agent_stopped',
  'org_stopped',
  'insufficient_scope',
  'intent_required',
  'intent_invalid',
  'intent_replay',
  'csrf_failed',
  'recent_sign_in_required',
  'insufficient_role',
  'approver_not_eligible',
  'self_approval',
  'approval_needs_passkey',
  'approval_needs_person',
  'approval_link_review_only',
  'approver_unmapped',
  'pro_required',
  'policy_denied',
  'approval_required',
  'policy_unavailable',
  'approval_unsatisfiable',
  'schedule_needs_approval',
  'budget_exceeded',
  'approval_limit_reached',
  'rate_limited',
  'upstream_rate_limited',
  'connector_unavailable',
  'upstream_error',
  'timeout',
  'internal_error',
  'service_unavailable',
  'vault_unavailable',
  'upstream_auth_failed',
  'upstream_not_found',
  'response_too_large',
  'database_role_unsafe',
  'database_not_ready',
  'payments_livemode_detected',
  'upstream_approval_pending',
] as const;
export const CURRENCY_PATTERN = /^[a-z]{3}$/;
export const CURRENCY_MAX_LENGTH = 3;
export const ORG_ID_PATTERN = /^org_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const MEMBERSHIP_ID_PATTERN = /^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const SESSION_ID_PATTERN = /^ses_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const REQUEST_ID_PATTERN = /^req_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const SEARCH_TEXT_MAX_LENGTH = 64;
export const REASON_TEXT_MAX_LENGTH = 280;
export const AGENT_SCOPE_VALUES = ['actions:execute', 'actions:read', 'deeds:read', 'actions:undo'] as const;
export const INTENT_MODE_VALUES = ['off', 'optional', 'required'] as const;
export const AGENT_STATUS_VALUES = ['active', 'stopped', 'suspended'] as const;
export const KEY_NAME_MAX_LENGTH = 30;
export const PUBLIC_KEY_PATTERN = /^ed25519:[A-Za-z0-9_-]{43}$/;
export const APPROVAL_STATUS_VALUES = ['pending', 'approved', 'denied', 'expired', 'cancelled'] as const;
export const APPROVAL_DECISION_VALUES = ['approve', 'deny'] as const;
export const BUDGET_NAME_PATTERN = /^(pol|agt)_[0-9a-z]{26}\/[a-z][a-z0-9_-]{0,63}$/;
export const TREE_HASH_PATTERN = /^[A-Za-z0-9+/]{43}=$/;
export const CONNECTOR_NAME_PATTERN = /^[a-z][a-z0-9-]{1,31}$/;
export const CONNECTOR_TYPE_NAME_VALUES = [
  'rest',
  'mcp_http',
  'database',
  'code_host',
  'chat',
  'payments',
  'mail',
  'notes',
  'fake',
] as const;
export const SERVED_CONNECTOR_TYPE_NAME_VALUES = [
  'code_host',
  'database',
  'fake',
  'mcp_http',
  'payments',
  'rest',
] as const;
export const CONNECTOR_STATUS_VALUES = ['active', 'disabled'] as const;
export const CREDENTIAL_KIND_VALUES = ['bearer', 'header', 'basic', 'query', 'database', 'none'] as const;
export const WITNESS_STATUS_VALUES = ['healthy', 'degraded', 'down', 'invalidated', 'off'] as const;
export const WITNESS_REASON_VALUES = [
  'slot_lagging',
  'decoder_down',
  'slot_invalidated',
  'log_restored',
  'slot_left',
] as const;
export const CONNECTOR_TOOL_STATUS_VALUES = ['accepted', 'new', 'changed', 'gone'] as const;
export const REPLICATION_NAME_PATTERN = /^[a-z0-9_]{1,63}$/;
export const DATABASE_ARGUMENT_TYPE_VALUES = [
  'string',
  'integer',
  'number',
  'boolean',
  'numeric',
  'bigint',
  'timestamp',
  'date',
  'uuid',
  'json',
] as const;
export const REST_METHOD_VALUES = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
export const NATIVE_TOOL_NAME_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
export const EVENT_CURSOR_PATTERN = /^[a-z0-9]{1,32}\.[0-9]{1,19}$/;
export const EVENT_TYPE_VALUES = [
  'action.created',
  'action.decided',
  'action.executed',
  'action.witnessed',
  'deed.sealed',
  'approval.requested',
  'approval.countersigned',
  'approval.decided',
  'agent.stopped',
  'agent.resumed',
  'agent.suspended',
  'org.stopped',
  'org.started',
  'policy.activated',
  'connector.tools_changed',
  'decoder.degraded',
  'decoder.recovered',
  'decoder.alert',
  'webhook.test',
  'anomaly.detected',
  'suggestion.created',
] as const;
export const SIDE_EFFECT_VALUES = ['read', 'write', 'destructive', 'unknown'] as const;
export const LEVEL_VALUES = ['L0', 'L1', 'L2'] as const;
export const OUTCOME_VALUES = ['allow', 'deny', 'require_approval'] as const;
export const EXECUTION_STATUS_VALUES = ['succeeded', 'failed', 'unknown'] as const;
export const VERDICT_VALUES = ['VERIFIED', 'MISMATCH', 'UNVERIFIABLE'] as const;
export const ACTION_STATE_VALUES = ['pending_approval', 'executing', 'witnessing', 'recorded', 'sealed'] as const;
export const INTENT_REASON_VALUES = [
  'syntax',
  'too_large',
  'strict',
  'not_canonical',
  'schema',
  'version',
  'org_mismatch',
  'agent_mismatch',
  'unknown_kid',
  'bad_signature',
  'not_yet_valid',
  'expired',
  'ttl',
  'tool_mismatch',
  'big_int',
  'args_not_canonicalizable',
  'args_mismatch',
  'unsigned_obo',
  'obo_mismatch',
  'session_mismatch',
  'replay',
] as const;
export const CALL_MODE_VALUES = ['gateway', 'proxy'] as const;
export const EDGE_ERROR_CODE_PATTERN = /^[a-z][a-z0-9_]{0,63}$/;
export const TRACE_ID_PATTERN = /^[0-9a-f]{32}$/;
export const ACTION_STATUS_VALUES = [
  'executed',
  'failed',
  'authorized',
  'processing',
  'pending_approval',
  'denied',
  'expired',
  'cancelled',
] as const;
export const TOOL_NAME_MAX_LENGTH = 200;
export const TOOL_GLOB_MAX_LENGTH = 200;
export const OVERVIEW_WINDOW_VALUES = ['24h', '7d'] as const;
export const STATS_WINDOW_VALUES = ['7d', '30d'] as const;
export const STATS_BY_VALUES = ['day', 'rule', 'tool', 'agent'] as const;
export const DEED_KIND_VALUES = ['action', 'amendment', 'admin'] as const;
export const SEAL_SIGNATURE_PATTERN = /^[A-Za-z0-9_-]{86}$/;
export const FILE_MEDIA_TYPE_VALUES = [
  'application/pdf',
  'text/markdown',
  'application/json',
  'text/plain',
  'text/html',
] as const;
export const PASSKEY_ID_PATTERN = /^pky_[0-7][0-9a-hjkmnp-tv-z]{25}$/;
export const BASE64URL_PATTERN = /^[A-Za-z0-9_-]*$/;
export const ROLE_VALUES = ['viewer', 'admin', 'owner'] as const;
export const EMAIL_ADDRESS_MAX_LENGTH = 254;
export const SIGN_IN_MEANS_VALUES = ['link', 'code', 'invite', 'org_switch', 'passkey'] as const;
export const SECURITY_EVENT_TYPE_VALUES = [
  'user.signed_in',
  'user.signed_out',
  'user.sign_in_failed',
  'login_link.issued',
  'member.address_set',
  'passkey.registered',
  'passkey.removed',
  'admin_key.created',
  'admin_key.rolled',
  'admin_key.revoked',
  'agent_key.created',
  'agent_key.rolled',
  'agent_key.revoked',
  'intent_key.added',
  'intent_key.removed',
  'export.started',
] as const;
export const ORGANIZATION_STATUS_VALUES = ['active', 'stopped'] as const;
export const APPROVAL_DOOR_VALUES = ['decide', 'review_only', 'off'] as const;
export const MEMBERSHIP_STATUS_VALUES = ['invited', 'active', 'removed'] as const;
export const RULE_ID_PATTERN = /^[a-z][a-z0-9_-]{0,63}$/;
export const DIAGNOSTIC_CODE_VALUES = [
  'source_too_large',
  'too_many_lines',
  'too_complex',
  'mixed_line_endings',
  'invalid_character',
  'yaml_syntax',
  'yaml_alias',
  'yaml_anchor',
  'yaml_tag',
  'yaml_directive',
  'yaml_multiple_documents',
  'yaml_flow',
  'yaml_merge_key',
  'yaml_complex_key',
  'yaml_nesting',
  'empty_source',
  'duplicate_key',
  'unknown_field',
  'missing_field',
  'wrong_type',
  'invalid_value',
  'too_many_items',
  'misplaced_field',
  'unsupported_version',
  'too_few_approvers',
  'duplicate_rule_id',
  'invalid_glob',
  'unreachable_rule',
  'expression_too_long',
  'expression_too_complex',
  'expression_syntax',
  'unknown_fact',
  'fact_not_available',
  'unknown_function',
  'unsupported_expression',
  'type_mismatch',
  'not_boolean',
  'invalid_pattern',
  'invalid_literal',
  'cost_too_high',
  'level_never_met',
  'never_equal',
  'always_present',
  'unguarded_fact',
  'mixed_numbers',
  'constant_condition',
  'unknown_argument',
  'optional_argument',
  'argument_type',
  'argument_value',
  'no_such_tool',
  'spend_never_charged',
  'more_problems',
] as const;
export const POLICY_MODE_VALUES = ['enforce', 'shadow'] as const;
export const POLICY_WORD_VALUES = ['rule', 'default', 'builtin'] as const;
export const POLICY_REFUSAL_VALUES = ['policy_denied', 'policy_unavailable'] as const;
export const EVENT_FAMILY_VALUES = [
  '*',
  'action.*',
  'deed.*',
  'approval.*',
  'agent.*',
  'org.*',
  'policy.*',
  'connector.*',
  'decoder.*',
  'webhook.*',
  'anomaly.*',
  'suggestion.*',
] as const;
export const WEBHOOK_STATUS_VALUES = ['active', 'disabled'] as const;
export const DELIVERY_STATUS_VALUES = ['pending', 'delivering', 'retrying', 'delivered', 'dead', 'cancelled'] as const;
export const LIST_AGENTS_FILTERS = ['status', 'q'] as const;
export const LIST_APPROVALS_FILTERS = ['status', 'action', 'agent', 'tool'] as const;
export const LIST_CONNECTOR_TOOLS_FILTERS = ['status'] as const;
export const LIST_ACTIONS_FILTERS = [
  'agent',
  'key',
  'tool',
  'state',
  'decision',
  'rule_id',
  'execution',
  'verdict',
  'level',
  'on_behalf_of',
  'session',
  'shadow_differs',
  'created_at[gte]',
  'created_at[lt]',
  'q',
] as const;
export const LIST_DEEDS_FILTERS = [
  'kind',
  'action',
  'issued_at[gte]',
  'issued_at[lt]',
  'seq[gte]',
  'seq[lt]',
  'order',
] as const;
export const LIST_SECURITY_EVENTS_FILTERS = ['type'] as const;
export const LIST_MEMBERS_FILTERS = ['status'] as const;
export const LIST_REPLAYS_FILTERS = ['policy'] as const;
export const LIST_WEBHOOK_DELIVERIES_FILTERS = ['status'] as const;
