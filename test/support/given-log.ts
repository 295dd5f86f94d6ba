import { digestOf, encodeId } from '#libs/crypto';
import type { ActionEvent, Decision, ExecutionOutcome, Submission } from '#libs/domain/gate';
import {
  type Actor,
  appendEvents,
  type DomainEvent,
  type EventStore,
  type ExpectedRevision,
  type Id,
  type IdPrefix,
  SYSTEM,
  timestampOf,
} from '#libs/domain/kernel';
import type { LedgerEvent } from '#libs/domain/ledger';

export type EventOf<Event extends DomainEvent, Type extends Event['type']> = Extract<Event, { type: Type }>;

/** The id of a number, so that tests may name things. */
export const testId = <Prefix extends IdPrefix>(prefix: Prefix, number: number): Id<Prefix> => {
  const bytes = new Uint8Array(16);
  new DataView(bytes.buffer).setBigUint64(8, BigInt(number));
  return encodeId(prefix, bytes) as Id<Prefix>;
};

export const TEST_ORG = testId('org', 1);
const EPOCH_MS = Date.UTC(2026, 9, 1, 12);

/** `seconds` after noon on 1 October 2026. */
export const testTime = (seconds: number): string => timestampOf(EPOCH_MS + Math.round(seconds * 1000));

/** Appends what tests say happened, each stream at its own end. */
export class GivenLog {
  private readonly revisions = new Map<string, number>();

  constructor(readonly store: EventStore) {}

  async append(stream: string, ...events: readonly DomainEvent[]): Promise<void> {
    return this.appendAs(SYSTEM, stream, ...events);
  }

  async appendAs(actor: Actor, stream: string, ...events: readonly DomainEvent[]): Promise<void> {
    const known = this.revisions.get(stream);
    const expected: ExpectedRevision = known ?? 'no_stream';
    const metadata = {
      org: TEST_ORG,
      actor,
      requestId: null,
      commandId: `command ${stream} ${(known ?? -1) + 1}`,
      now: testTime(0),
    };
    await appendEvents(this.store, stream, expected, events, metadata);
    this.revisions.set(stream, (known ?? -1) + events.length);
  }
}

export const allowed: Decision = {
  outcome: 'allow',
  code: null,
  source: 'rule',
  rule_id: 'read-crm',
  reason: 'rule read-crm',
  message: null,
  policy: testId('pol', 1),
  policy_version: testId('pv', 1),
};

export const denied: Decision = {
  ...allowed,
  outcome: 'deny',
  code: 'policy_denied',
  source: 'default',
  rule_id: null,
  reason: 'default deny',
  message: 'The policy does not allow this call.',
};

export const submission = (number: number, changes: Partial<Submission> = {}): Submission => ({
  action: testId('act', number),
  org: TEST_ORG,
  agent: testId('agt', 1),
  agent_name: 'support',
  key: testId('key', 1),
  livemode: false,
  tool: 'crm.get_customer',
  tool_truncated: false,
  connector: testId('con', 1),
  tool_digest: digestOf('tool'),
  side_effect: 'read',
  mode: 'gateway',
  args_digest: digestOf(`args ${number}`),
  request_digest: digestOf(`request ${number}`),
  comparison_digest: digestOf(`comparison ${number}`),
  idempotency_key_hash: null,
  on_behalf_of: null,
  session: null,
  intent_signed: false,
  intent_hash: null,
  input_digest: digestOf(`input ${number}`),
  ...changes,
});

export const outcome = (changes: Partial<ExecutionOutcome> = {}): ExecutionOutcome => ({
  status: 'succeeded',
  error_code: null,
  error_message: null,
  result_digest: digestOf('result'),
  started_at: testTime(1),
  finished_at: testTime(2),
  latency_ms: 1_000,
  ...changes,
});

/** The five events before an outcome, of action `number`, submitted `number` seconds after noon. */
export const started = (number: number, changes: Partial<Submission> = {}): readonly ActionEvent[] => {
  const action = testId('act', number);
  const at = testTime(number);
  const execution = { action, class: 'once', at } as const;
  return [
    { type: 'ActionSubmitted', data: { ...submission(number, changes), at } },
    { type: 'ActionDecided', data: { action, decision: allowed, at } },
    { type: 'ExecutionReady', data: { ...execution, timeout_ms: 10_000, start_by: testTime(number + 300) } },
    {
      type: 'ExecutionStarted',
      data: {
        ...execution,
        attempt: 1,
        executor: 'api-1',
        claim: `claim ${number}`,
        may_have_run: false,
        deadline: testTime(number + 10),
      },
    },
  ];
};

export const finished = (number: number, changes: Partial<ExecutionOutcome> = {}): ActionEvent => ({
  type: 'ExecutionFinished',
  data: {
    ...outcome(changes),
    action: testId('act', number),
    attempt: 1,
    claim: `claim ${number}`,
    at: testTime(number + 2),
  },
});

export const witnessed = (
  number: number,
  changes: Partial<EventOf<ActionEvent, 'ActionWitnessed'>['data']> = {},
): ActionEvent => ({
  type: 'ActionWitnessed',
  data: {
    action: testId('act', number),
    level: 'L0',
    verdict: 'VERIFIED',
    method: 'reported',
    reasons: [],
    summary: 'The tool reported success; nothing else was checked.',
    evidence_digest: null,
    diff_rows: 0,
    at: testTime(number + 2),
    ...changes,
  },
});

const NO_SECTIONS = { action: null, policy: null, approval: null, execution: null, witness: null, admin: null };
const ACTION_SECTIONS = {
  ...NO_SECTIONS,
  who: { agent: testId('agt', 1) },
  action: { tool: 'crm.get_customer' },
  policy: { outcome: 'allow' },
  execution: { status: 'succeeded' },
  witness: { level: 'L0', verdict: 'VERIFIED' },
};
const ADMIN_SECTIONS = {
  ...NO_SECTIONS,
  who: { agent: null },
  admin: { action: 'org.created', target: { type: 'org', id: TEST_ORG } },
};

/** Deed `seq`, of action `seq` unless something else is said. */
export const sealed = (seq: number, changes: Partial<LedgerEvent['data']> = {}): LedgerEvent => ({
  type: 'DeedSealed',
  data: {
    org: TEST_ORG,
    deed: testId('deed', seq),
    seq,
    kind: 'action',
    action: testId('act', seq),
    issued_at: testTime(seq + 3),
    body: JSON.stringify(changes.kind === 'admin' ? { seq, ...ADMIN_SECTIONS } : { seq, ...ACTION_SECTIONS }),
    body_hash: digestOf(`body ${seq}`),
    prev_hash: seq === 1 ? null : digestOf(`body ${seq - 1}`),
    kid: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
    signature: 'c2lnbmF0dXJl',
    cose_signature: 'Y29zZQ',
    ...changes,
  },
});
