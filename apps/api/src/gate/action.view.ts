import type { JsonObject, JsonValue } from '#libs/crypto';
import { statusOf, type LivingAction } from '#libs/domain/gate';
import type { DeedId } from '#libs/domain/kernel';

/** An action and whether the ledger holds its deed: all that its public form is made of. */
export interface ActionFacts {
  readonly action: LivingAction;
  /** Null while it is not sealed. */
  readonly deed: DeedId | null;
}

/** What the gate's own answers show beyond a list's (document 1, Action). */
export interface OwnAnswer {
  /** Gives null when there is none, or when retention has removed it. Asked when the answer is written. */
  readonly result: () => JsonValue;
}

/** The action object of document 1. Lists omit `execution.result` and `witness.reasons`. */
export const actionView = ({ action, deed }: ActionFacts, own: OwnAnswer | null = null): JsonObject => {
  const { submission } = action;
  return {
    object: 'action',
    id: submission.action,
    livemode: submission.livemode,
    agent: { id: submission.agent, name: submission.agent_name },
    tool: submission.tool,
    mode: submission.mode,
    state: deed === null ? action.state : 'sealed',
    status: statusOf(action, deed !== null),
    decision: decisionView(action),
    approval: null,
    execution: executionView(action, own),
    witness: witnessView(action, own),
    on_behalf_of: submission.on_behalf_of,
    session: submission.session,
    request_digest: submission.request_digest,
    cost: null,
    deed,
    next_action: null,
    created_at: action.createdAt,
  };
};

const decisionView = ({ decision }: LivingAction): JsonObject | null => {
  if (!decision) return null;
  const { outcome, code, source, rule_id, reason, message, policy, policy_version } = decision;
  return { outcome, code, source, rule_id, reason, message, policy, policy_version };
};

const executionView = ({ outcome, attempts }: LivingAction, own: OwnAnswer | null): JsonObject | null => {
  if (!outcome) return null;
  const { status, started_at, finished_at, latency_ms, error_code, error_message } = outcome;
  const count = attempts.length;
  if (own === null) {
    return { status, attempts: count, started_at, finished_at, latency_ms, error_code, error_message };
  }
  const result = readWhenWritten(own.result);
  return { status, attempts: count, started_at, finished_at, latency_ms, error_code, error_message, result };
};

/** Becomes the value when the answer is written. No getter: each object that has one of its own is a shape to V8. */
export const readWhenWritten = (value: () => JsonValue): JsonValue =>
  new ReadWhenWritten(value) as unknown as JsonValue;

class ReadWhenWritten {
  constructor(private readonly value: () => JsonValue) {}

  toJSON(): JsonValue {
    return this.value();
  }
}

const witnessView = ({ witness }: LivingAction, own: OwnAnswer | null): JsonObject | null => {
  if (!witness) return null;
  const { level, verdict, method, reasons, summary, diff_rows } = witness;
  if (own === null) return { level, verdict, method, summary, diff_rows };
  return { level, verdict, method, summary, diff_rows, reasons: [...reasons] };
};
