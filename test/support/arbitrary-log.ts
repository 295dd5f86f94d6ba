import { digestOf } from '#libs/crypto';
import type { ConnectorEvent } from '#libs/domain/connectors';
import type { ActionEvent, Decision, ExecutionOutcome, Submission } from '#libs/domain/gate';
import { type DomainEvent, ERROR_CATALOGUE, type ErrorCode, type Timestamp, timestampOf } from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';
import type { KeyRecord, OrganizationEvent } from '#libs/domain/people';
import type { PolicyEvent } from '#libs/domain/policies';
import fc from 'fast-check';
import { type EventOf, testId } from './given-log.js';

/** Events of one stream, in order. */
export interface ArbitraryStream {
  readonly stream: string;
  readonly events: readonly DomainEvent[];
}

/** An arbitrary for every event of a union: one that is left out, or a member that is, does not compile. */
type EventArbitraries<Event extends DomainEvent> = {
  readonly [Type in Event['type']]: fc.Arbitrary<EventOf<Event, Type>['data']>;
};

const anyOf = <Event extends DomainEvent>(
  arbitraries: EventArbitraries<Event>,
  types = Object.keys(arbitraries) as Event['type'][],
): fc.Arbitrary<DomainEvent> => fc.oneof(...types.map((type) => arbitraries[type].map((data) => ({ type, data }))));

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
const errorCode = fc.constantFrom(...(Object.keys(ERROR_CATALOGUE) as ErrorCode[]));
const org = fc.constantFrom(testId('org', 1), testId('org', 2));
const anyId = fc.integer({ min: 1, max: 5 });
const policyId = anyId.map((number) => testId('pol', number));
const versionId = anyId.map((number) => testId('pv', number));
const actor = fc.record({
  type: fc.constantFrom('agent', 'user', 'admin_key', 'operator', 'system'),
  id: orNull(anyId.map((number) => testId('key', number))),
});

const submissions = (action: Submission['action'], text: fc.Arbitrary<string>): fc.Arbitrary<Submission> =>
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

const decisions = (text: fc.Arbitrary<string>): fc.Arbitrary<Decision> =>
  fc.record({
    outcome: fc.constantFrom('allow', 'deny', 'require_approval'),
    code: orNull(errorCode),
    source: fc.constantFrom('rule', 'default', 'budget', 'stop', 'builtin'),
    rule_id: orNull(text),
    reason: orNull(text),
    message: orNull(text),
    policy: orNull(policyId),
    policy_version: orNull(versionId),
  });

const outcomes = (text: fc.Arbitrary<string>): fc.Arbitrary<ExecutionOutcome> =>
  fc.record({
    status: fc.constantFrom('succeeded', 'failed', 'unknown'),
    error_code: orNull(errorCode),
    error_message: orNull(text),
    result_digest: orNull(digest),
    started_at: orNull(instant),
    finished_at: instant,
    latency_ms: orNull(fc.nat()),
  });

const actionEvents = (action: Submission['action'], text: fc.Arbitrary<string>): EventArbitraries<ActionEvent> => {
  const about = { action: fc.constant(action), at: instant };
  const executionClass = fc.constantFrom('once' as const, 'repeatable' as const);
  const report = { ...about, attempt: fc.nat(3), claim: text };
  return {
    ActionSubmitted: fc.tuple(submissions(action, text), instant).map(([submitted, at]) => ({ ...submitted, at })),
    ActionDecided: fc.record({ ...about, decision: decisions(text) }),
    ExecutionReady: fc.record({ ...about, class: executionClass, timeout_ms: fc.nat(), start_by: instant }),
    ExecutionStarted: fc.record({
      ...report,
      class: executionClass,
      executor: text,
      may_have_run: fc.boolean(),
      deadline: instant,
    }),
    ExecutionFinished: fc
      .tuple(outcomes(text), fc.record({ ...report, claim: orNull(text) }))
      .map(([said, when]) => ({ ...said, ...when })),
    ActionWitnessed: fc.record({
      ...about,
      level: fc.constantFrom('L0', 'L1', 'L2'),
      verdict: fc.constantFrom('VERIFIED', 'MISMATCH', 'UNVERIFIABLE'),
      method: fc.constantFrom('reported', 'edge_reported', 'none'),
      reasons: fc.array(text, { maxLength: 3 }),
      summary: text,
      evidence_digest: orNull(digest),
      diff_rows: fc.nat(20),
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
  const status = fc.constantFrom('active' as const, 'disabled' as const);
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
    ConnectorDisabled: fc.record({ ...about, reason: text }),
    ConnectorDeleted: fc.record({ ...about, credential_version: orNull(text) }),
    ConnectorCredentialsUpdated: fc.record({
      ...about,
      kind: fc.constantFrom('bearer', 'header', 'basic', 'query', 'none'),
      fields: fc.array(text, { maxLength: 2 }),
      hint: orNull(text),
      version: text,
    }),
    ConnectorCredentialsRemoved: fc.record({ ...about, version: text }),
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
  const events: EventArbitraries<OrganizationEvent> = {
    OrganizationCreated: fc.record({
      ...about,
      name: text,
      timezone: text,
      owner: fc.constant(testId('usr', 1)),
      membership: fc.constant(testId('mem', 1)),
    }),
    OrganizationStopped: fc.record({ ...about, reason: orNull(text) }),
    OrganizationStarted: fc.record({ ...about, reason: orNull(text) }),
    AdminKeyCreated: fc.record({ ...about, record }),
    AdminKeyRolled: fc.record({ ...about, key, successor: record, expires_at: instant }),
    AdminKeyRevoked: fc.record({ ...about, key }),
    PolicyActivated: fc.record({ ...slot, version: fc.nat(), version_hash: digest, replaced: orNull(versionId) }),
    PolicyDeactivated: fc.record(slot),
  };
  return fc
    .array(anyOf(events), { minLength: 1, maxLength: 8 })
    .map((all) => ({ stream: `org-${testId('org', number)}`, events: all }));
};

/** Deeds of `actions` actions that are in the log before them. */
const ledgerStream = (actions: number, text: fc.Arbitrary<string>): fc.Arbitrary<ArbitraryStream> => {
  const deeds = fc.array(
    fc.record({
      kind: fc.constantFrom('action' as const, 'amendment' as const, 'admin' as const),
      number: fc.integer({ min: 1, max: actions }),
      issued_at: instant,
      body: text.map((said) => JSON.stringify({ said, who: { agent: testId('agt', 1) } })),
      body_hash: digest,
      prev_hash: orNull(digest),
      kid: text,
      signature: text,
      cose_signature: text,
    }),
    { maxLength: 6 },
  );
  return deeds.map((all) => ({
    stream: `ledger-${testId('org', 1)}`,
    events: all.map(({ kind, number, ...rest }, index): LedgerEvent => {
      const seq = index + 1;
      const action = kind === 'admin' ? null : testId('act', number);
      return {
        type: 'DeedSealed',
        data: { ...rest, org: testId('org', 1), deed: testId('deed', seq), seq, kind, action },
      };
    }),
  }));
};

const ACTIONS = 3;

/**
 * Every event that the types allow, with any text in it, in streams that are mixed at random; deeds come last, as they do.
 * Each entry is one append.
 */
export const arbitraryLog = (text: fc.Arbitrary<string> = anyText): fc.Arbitrary<readonly ArbitraryStream[]> => {
  const streams = [
    ...Array.from({ length: ACTIONS }, (_, index) => actionStream(index + 1, text)),
    connectorStream(1, text),
    connectorStream(2, text),
    policyStream(1, text),
    policyStream(2, text),
    orgStream(1, text),
    orgStream(2, text),
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
