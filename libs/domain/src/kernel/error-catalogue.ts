/**
 * Every error a caller can meet, in one typed place: code → type, HTTP status, a calm message that says what to do
 * next, and whether the same request may simply be sent again. Codes are never renamed; messages may become more exact
 * (rule API-2).
 */
export type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'policy_error'
  | 'rate_limit_error'
  | 'api_error';

interface CatalogueEntry {
  readonly type: ErrorType;
  readonly status: number;
  readonly message: string;
  readonly retryable: boolean;
}

const entry =
  (type: ErrorType, retryable = false) =>
  (status: number, message: string): CatalogueEntry => ({ type, status, message, retryable });

const request = entry('invalid_request_error');
const authentication = entry('authentication_error');
const permission = entry('permission_error');
const policy = entry('policy_error');
const limit = entry('rate_limit_error', true);
const server = entry('api_error');
const passing = entry('api_error', true);

/**
 * The same text for every reason to refuse a destination, so that the answer reveals nothing about the network. What it
 * advises must be possible for each of those reasons.
 */
export const DESTINATION_NEXT =
  'Use a public address, in production at port 443; private ones and other ports an operator opens in SERVICE_EGRESS_ALLOW, never this service itself.';

export const ERROR_CATALOGUE = {
  approval_expired: request(
    409,
    'The approval expired before anyone decided, and nothing ran. Submit the action again.',
  ),
  tool_unknown: request(
    404,
    'No active connector provides this tool. Check the name, written <connector>.<tool>, against the connectors of your organization and their status.',
  ),
  idempotency_conflict: request(
    422,
    'This Idempotency-Key was already used with a different request. Send a new key, or the first request again unchanged.',
  ),
  validation_failed: request(
    400,
    'A field of the request is not valid. Correct the field named in param and send it again.',
  ),
  not_found: request(
    404,
    'There is nothing here. Check the path and the id; ids of other organizations are never found.',
  ),
  conflict: request(409, 'The request conflicts with the current state. Read the object again and decide anew.'),
  method_not_allowed: request(405, 'This path does not support that method. The Allow header lists the ones it does.'),
  request_too_large: request(413, 'The request body is too large. Send less.'),
  unsupported_media_type: request(415, 'The body must be JSON. Send it with Content-Type: application/json.'),
  invalid_json: request(
    400,
    'The body is not valid JSON. Send one JSON document in UTF-8, without duplicate member names.',
  ),
  api_version_invalid: request(
    400,
    'Service-Version must be one date that this service serves, sent once. GET /v1/version lists them.',
  ),
  idempotency_key_invalid: request(400, 'Idempotency-Key must be 1 to 255 printable ASCII characters, sent once.'),
  idempotency_key_in_use: request(
    409,
    'A request with this Idempotency-Key is still running. Wait a second and send it again.',
  ),
  login_link_invalid: request(400, 'This sign-in link has expired or was used. Ask for a new one.'),
  login_code_invalid: request(400, 'This code is wrong or has expired. Ask for a new e-mail.'),
  passkey_invalid: request(
    400,
    'The passkey could not be used here, or it took too long. Try again, or sign in by e-mail at /login.',
  ),
  last_owner: request(409, 'The organization would lose its last active owner. Make someone else an owner first.'),
  policy_invalid: request(400, 'The policy was not saved. Correct what diagnostics lists and send it again.'),
  credentials_missing: request(
    409,
    'The connector has no credentials. An admin can store them with PUT /v1/connectors/{id}/credentials.',
  ),
  destination_blocked: request(400, `The connector may not reach this address. ${DESTINATION_NEXT}`),
  statement_refused: request(
    400,
    'The database connector takes one plain statement per action; transaction control and schema changes are never run.',
  ),
  row_limit_exceeded: request(
    400,
    'The statement would change more rows than allowed, so nothing was committed. Narrow it and try again.',
  ),
  witness_not_configured: request(
    409,
    'Checks are not on for this connector. Turn them on before asking for its decoder.',
  ),
  ledger_inconsistent: request(
    409,
    'The ledger does not continue what was signed before, so nothing more is signed. Tell the operator: docs/checkpoints.md says what to do.',
  ),
  approval_decided: request(409, 'This approval was already decided. Read it again to see how.'),
  already_countersigned: request(409, 'You already countersigned this approval. Another approver must sign next.'),
  context_changed: request(
    409,
    'What you reviewed is out of date. Read the approval again and decide on what it says now.',
  ),
  payments_live_key_refused: request(400, 'Live-mode payments keys are never accepted. Store a sandbox key instead.'),
  action_executing: request(409, 'The action is running and can no longer be cancelled. Wait for its outcome.'),
  from_denied: request(400, 'Mail may not be sent from an address on the service’s own domain. Use another sender.'),
  undo_unavailable: request(409, 'This action cannot be undone. The failing checks and their fixes are in checks.'),
  undo_plan_stale: request(409, 'Rows changed since the undo was previewed. Preview it again.'),
  already_undone: request(409, 'The action was already undone, or an undo of it is waiting.'),
  undo_conflict: request(409, 'A row changed after the plan was made, so the undo was rolled back. Preview it again.'),
  replay_too_large: request(400, 'The replay covers more than 1,000,000 actions. Choose a shorter window.'),
  replay_window_invalid: request(400, 'The window must start before it ends and be at most 90 days long.'),
  suggestion_stale: request(409, 'The policy changed since the suggestion was written. Generate suggestions again.'),
  shadow_slot_taken: request(409, 'Another version already runs in shadow. Send replace_shadow to replace it.'),
  suggestion_decided: request(409, 'This suggestion was already decided. Read it again to see how.'),
  observe_not_enabled: request(409, 'Observe mode is off for this connector. Turn it on first.'),
  invalid_api_key: authentication(
    401,
    'The API key is not valid. Send Authorization: Bearer with a key of this service, copied whole.',
  ),
  api_key_revoked: authentication(
    401,
    'This API key was revoked. Ask an admin for a new one: POST /v1/agents/{id}/keys makes it, and so does `npm run ags -- keys create`.',
  ),
  api_key_expired: authentication(
    401,
    'This API key was rolled and its overlap has ended. Use the key that replaced it.',
  ),
  authentication_required: authentication(
    401,
    'This endpoint needs credentials. Send Authorization: Bearer with an API key, or sign in at /login.',
  ),
  session_expired: authentication(401, 'The session has ended. Sign in again at /login.'),
  approval_link_invalid: authentication(
    401,
    'This approval link has expired or was used. Open the approval in the Console.',
  ),
  agent_suspended: permission(
    403,
    'This agent is suspended, so none of its calls runs. Stop calling: a person may let it work again.',
  ),
  agent_stopped: permission(
    403,
    'This agent is stopped, so none of its calls runs. Stop calling: a person may start it again.',
  ),
  org_stopped: permission(
    403,
    'All agents of this organization are stopped, so none of their calls runs. Stop calling: a person may start them again.',
  ),
  insufficient_scope: permission(403, 'The key lacks the scope this endpoint needs. WWW-Authenticate names it.'),
  intent_required: permission(403, 'This agent must sign its requests. Send a Service-Intent header.'),
  intent_invalid: permission(403, 'The signed intent does not match the request. Sign exactly the call you send.'),
  intent_replay: permission(403, 'This signed intent was already used. Sign a new one with a fresh nonce.'),
  csrf_failed: permission(
    403,
    'The request did not prove that it comes from the Console. Reload the page and try again.',
  ),
  recent_sign_in_required: permission(
    403,
    'This needs a sign-in of the last 10 minutes. Sign in again at /login, then repeat it.',
  ),
  insufficient_role: permission(403, 'Your role does not allow this. Ask an admin or an owner.'),
  approver_not_eligible: permission(403, 'You are not an approver for this rule. Ask one of the approvers it names.'),
  self_approval: permission(
    403,
    'This action runs on your behalf, so another approver must countersign. You may still deny it.',
  ),
  approval_needs_passkey: permission(
    403,
    'This approval is signed with a passkey. Approve it with one of yours; add one in the Console, under Settings, if you have none.',
  ),
  approval_needs_person: permission(403, 'Only people can countersign. Sign in to the Console to decide.'),
  approval_link_review_only: permission(403, 'This organization decides approvals in the Console. Open it there.'),
  approver_unmapped: permission(403, 'No person matches this chat account. Ask an admin to link it.'),
  pro_required: permission(403, 'This is part of the paid tier.'),
  policy_denied: policy(403, 'The policy does not allow this call. Ask an admin if it should.'),
  approval_required: policy(403, 'This call needs a person’s approval first.'),
  policy_unavailable: policy(
    403,
    'The policy could not be evaluated, so the action did not run. Ask an admin to check the active policy, which GET /v1/policies lists.',
  ),
  approval_unsatisfiable: policy(
    403,
    'A rule asks for an approval that nobody in the organization can give. Ask an admin to change the rule.',
  ),
  schedule_needs_approval: policy(
    403,
    'The policy now allows this at once; a scheduled approval would run it early. Submit it without a schedule.',
  ),
  budget_exceeded: limit(
    429,
    'A budget of this call is used up for its period. Retry-After says when the next one begins; send the call again then, under a new Idempotency-Key.',
  ),
  approval_limit_reached: limit(
    429,
    'As many calls of this agent wait for people as may. Wait until some are decided or cancel what is no longer needed; then send the call under a new Idempotency-Key.',
  ),
  rate_limited: limit(429, 'Too many requests. Wait as long as Retry-After says.'),
  upstream_rate_limited: limit(429, 'The upstream service is limiting requests. Try again later.'),
  connector_unavailable: passing(
    503,
    'The connector could not be reached. Try again; if it persists, an admin can check its config with GET /v1/connectors/{id}.',
  ),
  upstream_error: server(502, 'The tool returned an error. Its own words are in the result.'),
  timeout: server(
    504,
    'The work ran past its time limit and may have partly run. Read the state before you try again.',
  ),
  internal_error: server(
    500,
    'Something went wrong on our side. Send the request id to the operator if it happens again.',
  ),
  service_unavailable: passing(
    503,
    'The service cannot do this right now. Wait a moment and send the same request again.',
  ),
  vault_unavailable: passing(503, 'The stored credentials could not be opened. The operator must check the vault key.'),
  upstream_auth_failed: server(
    502,
    'The upstream service refused the connector’s credentials. An admin can store new ones with PUT /v1/connectors/{id}/credentials.',
  ),
  upstream_not_found: server(502, 'The upstream service has nothing at that address. Check the arguments.'),
  response_too_large: server(
    502,
    'The upstream answer is larger than the connector allows. The call ran; ask for less, or raise max_response_bytes.',
  ),
  database_role_unsafe: passing(503, 'The connector’s database role is a superuser. Give it a role of its own.'),
  database_not_ready: passing(503, 'The service is not set up in the target database. An admin can run its setup.'),
  payments_livemode_detected: server(
    502,
    'The payments connector answered in live mode and was disabled. Store a sandbox key and enable it again.',
  ),
  upstream_approval_pending: server(502, 'The payments processor holds this call for an approval of its own.'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(ERROR_CATALOGUE, code);
