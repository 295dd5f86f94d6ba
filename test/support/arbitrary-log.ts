import { digestOf } from '#libs/crypto';
import type { AgentEvent } from '#libs/domain/agents';
import type { ConnectorEvent } from '#libs/domain/connectors';
import type { ActionEvent, Submission, SubmittedIntent } from '#libs/domain/gate';
import { type DomainEvent, type Timestamp, timestampOf } from '#libs/domain/kernel';
import {
  ORGANIZATION_FIELDS,
  ROLES,
  type KeyRecord,
  type MemberEvent,
  type OrganizationEvent,
} from '#libs/domain/people';
import type { PolicyEvent } from '#libs/domain/policies';
import fc from 'fast-check';
import { outcomes, statements, waits, words } from './arbitrary-change-logs.js';
import { arbitraryCharges } from './arbitrary-charges.js';
import { decisions, shadows } from './arbitrary-decisions.js';
import { checkpointStream, witnessPolicyStream } from './arbitrary-checkpoints.js';
import { decoderStream } from './arbitrary-decoder.js';
import { anyOf, type ArbitraryStream, type EventArbitraries } from './arbitrary-events.js';
import { passkeyEvents } from './arbitrary-passkeys.js';
import { ledgerStream } from './arbitrary-ledger.js';
import { evidenceExportStream, exportStream } from './arbitrary-exports.js';
import { sessionStream, signInStream } from './arbitrary-sessions.js';
import { testId } from './given-log.js';

const first = <Event extends DomainEvent, Type extends Event['type']>(
  arbitraries: EventArbitraries<Event>,
  type: Type,
): fc.Arbitrary<DomainEvent> => arbitraries[type].map((data) => ({ type, data }));

/** Every scalar value of Unicode: the log's JSON can hold no lone surrogate. U+0000 comes more often than by chance. */
export const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc.oneof(
    { weight: 5, arbitrary: fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }) },
    fc.constant('\0'),
  ),
  maxLength: 30,
});

const instant: fc.Arbitrary<Timestamp> = fc.integer({ min: 0, max: 253_402_300_799_999 }).map(timestampOf);
const digest = fc.string().map((text) => digestOf(Buffer.from(text).toString('hex')));
const orNull = <Value>(value: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> => fc.option(value);
const org = fc.constantFrom(testId('org', 1), testId('org', 2));
const anyId = fc.integer({ min: 1, max: 5 });
const policyId = anyId.map((number) => testId('pol', number));
const versionId = anyId.map((number) => testId('pv', number));
const actor = fc.record({
  type: fc.constantFrom('agent', 'user', 'admin_key', 'operator', 'system'),
  id: orNull(anyId.map((number) => testId('key', number))),
});

const intents: fc.Arbitrary<SubmittedIntent> = fc.record({ kid: fc.string(), nonce: fc.string(), exp: fc.nat() });

/** Of versions that checked no intents, too, whose events say nothing of them. */
const submissions = (action: Submission['action'], text: fc.Arbitrary<string>): fc.Arbitrary<Submission> =>
  fc
    .tuple(unsignedSubmissions(action, text), orNull(intents))
    .map(([submission, intent]) => (intent === null ? submission : { ...submission, intent }));

const unsignedSubmissions = (action: Submission['action'], text: fc.Arbitrary<string>): fc.Arbitrary<Submission> =>
  fc.record({
    action: fc.constant(action),
    org,
    agent: anyId.map((number) => testId('agt', number)),
    agent_name: text,
    key: anyId.map((number) => testId('key', number)),
    livemode: fc.boolean(),
    tool: text,
    tool_truncated: fc.boolean(),
    connector: orNull(anyId.map((number) => testId('con', number))),
    tool_digest: orNull(digest),
    side_effect: fc.constantFrom('read', 'write', 'destructive', 'unknown'),
    mode: fc.constantFrom('gateway', 'proxy'),
    args_digest: digest,
    request_digest: digest,
    comparison_digest: digest,
    idempotency_key_hash: orNull(text),
    on_behalf_of: orNull(text),
    session: orNull(text),
    intent_signed: fc.boolean(),
    intent_hash: orNull(digest),
    input_digest: digest,
  });

const actionEvents = (action: Submission['action'], text: fc.Arbitrary<string>): EventArbitraries<ActionEvent> => {
  const about = { action: fc.constant(action), at: instant };
  const executionClass = fc.constantFrom('once' as const, 'repeatable' as const);
  const report = { ...about, attempt: fc.nat(3), claim: text };
  const approval = { approval: fc.constant(testId('apr', 1)) };
  const verdict = {
    level: fc.constantFrom('L0' as const, 'L1' as const, 'L2' as const),
    verdict: fc.constantFrom('VERIFIED' as const, 'MISMATCH' as const, 'UNVERIFIABLE' as const),
    method: fc.constantFrom('reported', 'edge_reported', 'read_back', 'change_log', 'none'),
    reasons: fc.array(text, { maxLength: 3 }),
    summary: text,
    evidence_digest: orNull(digest),
    diff_rows: fc.nat(20),
  };
  const word = {
    by: fc.constantFrom(testId('usr', 1), testId('usr', 2)),
    via: fc.constantFrom('console' as const, 'mail' as const, 'chat' as const),
    context_digest: digest,
    reason: orNull(text),
  };
  return {
    ActionSubmitted: fc.tuple(submissions(action, text), instant).map(([submitted, at]) => ({ ...submitted, at })),
    ActionDecided: fc.record(
      { ...about, decision: decisions(text), shadow: shadows(text), charges: arbitraryCharges(text) },
      { requiredKeys: ['action', 'at', 'decision'] },
    ),
    ApprovalRequested: fc.record({
      ...about,
      ...approval,
      rule_id: orNull(text),
      approvers: fc.array(text, { maxLength: 3 }),
      required: fc.integer({ min: 1, max: 3 }),
      context_digest: digest,
      expires_at: instant,
    }),
    ApprovalCountersigned: fc.record({ ...about, ...approval, ...word }),
    ApprovalDecided: fc.record({
      ...about,
      ...approval,
      ...word,
      outcome: fc.constantFrom('approved', 'denied'),
      tool_digest: orNull(digest),
      counted: fc.array(word.by, { maxLength: 3 }),
    }),
    ApprovalExpired: fc.record({ ...about, ...approval }),
    ActionCancelled: fc.record({
      ...about,
      ...approval,
      by: fc.constant({ type: 'user' as const, id: testId('usr', 1) }),
    }),
    EdgeAuthorized: fc.record({ ...about, deadline: instant }),
    EdgeReported: fc
      .tuple(outcomes(text), fc.record({ ...about, started_at: instant, has_result: fc.boolean() }))
      .map(([{ status, error_code, error_message, result_digest, finished_at }, when]) => ({
        ...when,
        status,
        error_code,
        error_message,
        result_digest,
        finished_at,
      })),
    EdgeLost: fc.record(about),
    ExecutionReady: fc.record({ ...about, class: executionClass, timeout_ms: fc.nat(), start_by: instant }),
    ExecutionStarted: fc.record({
      ...report,
      class: executionClass,
      executor: text,
      may_have_run: fc.boolean(),
      deadline: instant,
    }),
    ExecutionProgress: fc.record({ ...report, said: statements(text) }),
    WitnessReported: fc.record({ ...about, ...words(text) }),
    ExecutionFinished: fc
      .tuple(outcomes(text), fc.record({ ...report, claim: orNull(text) }), waits(text))
      .map(([said, when, log]) => ({ ...said, ...when, ...log })),
    ActionWitnessed: fc.record({ ...about, ...verdict }),
    WitnessAmended: fc.record({
      ...about,
      ...verdict,
      cause: fc.constantFrom('late_report', 'late_read', 'late_witness', 'asked'),
    }),
    LateReport: fc.tuple(outcomes(text), fc.record(report)).map(([said, when]) => ({ ...said, ...when })),
    SubmissionAbandoned: fc.record(about),
  };
};

const actionStream = (number: number, text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const events = actionEvents(testId('act', number), text);
  const then = anyOf(
    events,
    (Object.keys(events) as ActionEvent['type'][]).filter((type) => type !== 'ActionSubmitted'),
  );
  return fc
    .tuple(first(events, 'ActionSubmitted'), fc.array(then, { maxLength: 8 }))
    .map(([submitted, others]) => ({ stream: `action-${testId('act', number)}`, events: [submitted, ...others] }));
};

const connectorStream = (number: number, text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const about = {
    org: fc.constant(testId('org', 1)),
    connector: fc.constantFrom(testId('con', number), testId('con', 100 + number)),
    name: fc.constant(`c${number}`),
    at: instant,
  };
  const config = fc.dictionary(text, text).map((entries) => ({ ...entries }));
  const disabled = { requiredKeys: ['org', 'connector', 'name', 'at', 'reason'] as const } as never;
  const status = fc.constantFrom('active' as const, 'disabled' as const);
  const hints = fc.constant({ read_only: true, destructive: false, idempotent: true, open_world: false });
  const events: EventArbitraries<ConnectorEvent> = {
    ConnectorCreated: fc.record({
      ...about,
      type: fc.constantFrom('rest', 'mcp_http', 'database', 'code_host', 'chat', 'payments', 'mail', 'notes', 'fake'),
      description: orNull(text),
      config,
      config_hash: digest,
    }),
    ConnectorUpdated: fc.record(
      { ...about, description: orNull(text), status, config, config_hash: digest },
      { requiredKeys: ['org', 'connector', 'name', 'at'] },
    ),
    ConnectorDisabled: fc.record({ ...about, reason: text, upstream_request_id: text }, disabled),
    ConnectorDeleted: fc.record({ ...about, credential_version: orNull(text) }),
    ConnectorCredentialsUpdated: fc.record({
      ...about,
      kind: fc.constantFrom('bearer', 'header', 'basic', 'query', 'none'),
      fields: fc.array(text, { maxLength: 2 }),
      hint: orNull(text),
      version: text,
    }),
    ConnectorCredentialsRemoved: fc.record({ ...about, version: text }),
    ConnectorToolsRecorded: fc.record({
      ...{ ...about, protocol: text, list_digest: digest, accepted: fc.constant(['a']), left_out: fc.constant([]) },
      tools: fc.array(fc.record({ name: text, definition: digest, hints }), { maxLength: 2 }),
    }),
    ConnectorToolsAccepted: fc.record({ ...about, tools: fc.tuple(fc.record({ name: text, definition: digest })) }),
  };
  return fc
    .array(anyOf(events), { minLength: 1, maxLength: 8 })
    .map((all) => ({ stream: `connector-${testId('org', 1)}-c${number}`, events: all }));
};

const policyStream = (number: number, text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const about = { org, policy: fc.constant(testId('pol', number)), at: instant };
  const events: EventArbitraries<PolicyEvent> = {
    PolicyCreated: fc.record({ ...about, name: text }),
    PolicyVersionAdded: fc.record({
      ...about,
      version_id: anyId.map((version) => testId('pv', 10 * number + version)),
      version: fc.integer({ min: 1, max: 2_147_483_647 }),
      source: text,
      source_hash: digest,
      version_hash: digest,
      notes: orNull(text),
      author: actor,
      origin: fc.constantFrom('user', 'starter', 'suggestion'),
    }),
  };
  return fc
    .tuple(first(events, 'PolicyCreated'), fc.array(first(events, 'PolicyVersionAdded'), { maxLength: 5 }))
    .map(([created, added]) => ({ stream: `policy-${testId('pol', number)}`, events: [created, ...added] }));
};

const memberEvents = (number: number, text: fc.Arbitrary<string>): EventArbitraries<MemberEvent> => {
  const about = { org: fc.constant(testId('org', number)), at: instant };
  const of = { ...about, membership: anyId.map((named) => testId('mem', named)) };
  const user = anyId.map((named) => testId('usr', named));
  const role = fc.constantFrom(...ROLES);
  const texts = fc.array(text, { maxLength: 2 });
  return {
    MemberInvited: fc.record({ ...of, user, role, invitation: text, by: actor, expires_at: instant }),
    MemberJoined: fc.record({ ...of, user, role }),
    MemberRoleChanged: fc.record({ ...of, from: role, to: role }),
    MemberRemoved: fc.record({ ...of, role, self: fc.boolean() }),
    MemberReferencesChanged: fc.record({ ...of, references: texts, chat_accounts: texts }),
    MemberAddressSet: fc.record({ ...of, user }),
    LoginLinkIssued: fc.record({
      ...about,
      user,
      purpose: fc.constant('sign_in' as const),
      via: fc.constant('operator' as const),
    }),
  };
};

const orgStream = (number: number, text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const about = { org: fc.constant(testId('org', number)), at: instant };
  const key = anyId.map((named) => testId('key', named));
  const record: fc.Arbitrary<KeyRecord> = fc.record({ key, prefix: text, hash: text, livemode: fc.boolean() });
  const slot = {
    ...about,
    mode: fc.constantFrom('enforce' as const, 'shadow' as const),
    policy: policyId,
    version_id: versionId,
    reason: orNull(text),
  };
  const door = fc.constantFrom('decide' as const, 'review_only' as const, 'off' as const);
  const events: EventArbitraries<OrganizationEvent> = {
    ...memberEvents(number, text),
    ...passkeyEvents(number, text),
    OrganizationCreated: fc.record(
      {
        ...about,
        name: text,
        timezone: text,
        owner: fc.constant(testId('usr', 1)),
        membership: fc.constant(testId('mem', 1)),
        pinned_version: text,
      },
      { requiredKeys: ['org', 'at', 'name', 'timezone', 'owner', 'membership'] },
    ),
    OrganizationUpdated: fc.record(
      {
        ...about,
        fields: fc.subarray([...ORGANIZATION_FIELDS]),
        timezone: text,
        name: text,
        pinned_version: text,
        retention_days: orNull(fc.nat()),
        approvals: fc.record(
          { mail: door, chat: door, expires_in_s: fc.nat(), signed: fc.constant(true as const) },
          { requiredKeys: ['mail', 'chat', 'expires_in_s'] },
        ),
      },
      { requiredKeys: ['org', 'at', 'fields', 'timezone'] },
    ),
    OrganizationStopped: fc.record(
      { ...about, reason: orNull(text), by: actor },
      { requiredKeys: ['org', 'at', 'reason'] },
    ),
    OrganizationStarted: fc.record({ ...about, reason: orNull(text) }),
    AdminKeyCreated: fc.record({ ...about, record }),
    AdminKeyRolled: fc.record({ ...about, key, successor: record, expires_at: instant }),
    AdminKeyRevoked: fc.record({ ...about, key }),
    PolicyActivated: fc.record(
      { ...slot, version: fc.nat(), version_hash: digest, replaced: orNull(versionId), by: actor },
      { requiredKeys: ['org', 'at', 'mode', 'policy', 'version_id', 'reason', 'version', 'version_hash', 'replaced'] },
    ),
    PolicyDeactivated: fc.record(slot),
  };
  return fc
    .array(anyOf(events), { minLength: 1, maxLength: 8 })
    .map((all) => ({ stream: `org-${testId('org', number)}`, events: all }));
};

const agentStream = (number: number, text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const about = { org, agent: fc.constant(testId('agt', number)), at: instant };
  const key = anyId.map((named) => testId('key', named));
  const record: fc.Arbitrary<KeyRecord> = fc.record({ key, prefix: text, hash: text, livemode: fc.boolean() });
  const labels = fc.dictionary(text, text).map((entries) => ({ ...entries }));
  const mode = fc.constantFrom('off' as const, 'optional' as const, 'required' as const);
  const scopes = fc.subarray(['actions:execute', 'actions:read', 'deeds:read', 'actions:undo'] as const);
  const change = fc.record({ ...about, reason: orNull(text) });
  const events: EventArbitraries<AgentEvent> = {
    AgentRegistered: fc.record({ ...about, name: text, labels, owner: orNull(fc.constant(testId('usr', 1))) }),
    AgentKeyCreated: fc.record({ ...about, record, scopes: scopes.map((chosen) => [...chosen]) }),
    AgentKeyRolled: fc.record({ ...about, key, successor: record, expires_at: instant }),
    AgentKeyRevoked: fc.record({ ...about, key }),
    AgentIntentKeyAdded: fc.record({ ...about, kid: text, public_key: text, by: actor }),
    AgentIntentKeyRemoved: fc.record({ ...about, kid: text }),
    AgentIntentModeSet: fc.record({ ...about, from: mode, to: mode }),
    AgentLabelsSet: fc.record({ ...about, labels }),
    AgentBudgetsSet: fc.record({
      ...about,
      calls_per_day: orNull(fc.nat()),
      spend_per_day: orNull(fc.record({ amount: fc.nat(), currency: text })),
    }),
    AgentStopped: change,
    AgentSuspended: change,
    AgentResumed: change,
  };
  return fc
    .tuple(first(events, 'AgentRegistered'), fc.array(anyOf(events), { maxLength: 8 }))
    .map(([registered, others]) => ({ stream: `agent-${testId('agt', number)}`, events: [registered, ...others] }));
};

const ACTIONS = 3;

/**
 * Every event that the types allow, with any text in it, in streams that are mixed at random; deeds come last, as they do.
 * Each entry is one append.
 */
export const arbitraryLog = (text: fc.Arbitrary<string> = anyText): fc.Arbitrary<readonly ArbitraryStream[]> => {
  const streams = [
    ...Array.from({ length: ACTIONS }, (_, index) => actionStream(index + 1, text)),
    ...[1, 2].map((number) => connectorStream(number, text)),
    decoderStream(1, text, instant),
    ...[1, 2].map((number) => policyStream(number, text)),
    ...[1, 2].map((number) => orgStream(number, text)),
    ...[1, 2].map((number) => agentStream(number, text)),
    sessionStream(1),
    sessionStream(2),
    exportStream(1),
    checkpointStream(text),
    witnessPolicyStream(text),
    evidenceExportStream(1),
    signInStream(1),
  ];
  return fc
    .tuple(fc.tuple(...streams), ledgerStream(ACTIONS, text), fc.infiniteStream(fc.nat()))
    .map(([mixed, ledger, choices]) => [...mix(mixed, choices), ...(ledger.events.length > 0 ? [ledger] : [])]);
};

/** One event after the other, each from a stream chosen at random. */
const mix = (streams: readonly ArbitraryStream[], choices: Iterator<number>): readonly ArbitraryStream[] => {
  const waiting = streams.map(({ stream, events }) => ({ stream, events: [...events] }));
  const mixed: ArbitraryStream[] = [];
  for (;;) {
    const open = waiting.filter(({ events }) => events.length > 0);
    const chosen = open[(choices.next().value as number) % open.length];
    const event = chosen?.events.shift();
    if (!chosen || !event) return mixed;
    mixed.push({ stream: chosen.stream, events: [event] });
  }
};
