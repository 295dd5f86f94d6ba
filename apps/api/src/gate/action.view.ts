import type { JsonObject, JsonValue } from '#libs/crypto';
import { isReportable, statusOf, type LivingAction } from '#libs/domain/gate';
import { timestampOf, type Clock, type DeedId } from '#libs/domain/kernel';

/** An action and whether the ledger holds its deed: all that its public form is made of. */
export interface ActionFacts {
  readonly action: LivingAction;
  /** Null while it is not sealed. */
  readonly deed: DeedId | null;
}

/** Where and when an action is looked at. */
export interface Viewpoint {
  /** {base_url}, which the addresses in `next_action` begin with. */
  readonly baseUrl: string;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** What the gate's own answers show beyond a list's (rule GATE-14). */
export interface OwnAnswer {
  /** Gives null when there is none. Asked when the answer is written. */
  readonly result: () => JsonValue;
}

/** The action as the API shows it. Lists omit `execution.result` and `witness.reasons` (rule GATE-14). */
export const actionView = (
  { action, deed }: ActionFacts,
  viewpoint: Viewpoint,
  own: OwnAnswer | null = null,
): JsonObject => {
  const { submission } = action;
  return {
    object: 'action',
    id: submission.action,
    livemode: submission.livemode,
    agent: { id: submission.agent, name: submission.agent_name },
    key: { id: submission.key },
    tool: submission.tool,
    mode: submission.mode,
    state: deed === null ? action.state : 'sealed',
    status: statusOf(action, deed !== null),
    decision: decisionView(action),
    approval: approvalView(action),
    execution: executionView(action, own),
    witness: witnessView(action, own),
    on_behalf_of: submission.on_behalf_of,
    session: submission.session,
    trace_id: submission.trace?.id ?? null,
    request_digest: submission.request_digest,
    cost: null,
    deed,
    next_action: nextActionView(action, viewpoint),
    created_at: action.createdAt,
  };
};

const decisionView = ({ decision, shadow }: LivingAction): JsonObject | null => {
  if (!decision) return null;
  const { outcome, code, source, rule_id, reason, message, policy, policy_version } = decision;
  const said = { outcome, code, source, rule_id, reason, message, policy, policy_version };
  const until = decision.retry_at === undefined ? said : { ...said, retry_at: decision.retry_at };
  return shadow === null ? until : { ...until, shadow: { ...shadow } };
};

const approvalView = ({ approval }: LivingAction): JsonObject | null => {
  if (!approval) return null;
  const { terms, status } = approval;
  return { id: terms.approval, status, expires_at: terms.expires_at };
};

/** As long as a GET of an action may wait, in seconds (rule GATE-10). */
const POLL_WAIT_S = 25;

/**
 * What is for the caller to do, of what the events say: whoever asks again is told the same. Nothing at the edge once the
 * deadline has passed, swept or not: what is run then could not be reported.
 */
const nextActionView = (action: LivingAction, { baseUrl, clock }: Viewpoint): JsonObject | null => {
  const address = `${baseUrl}/v1/actions/${action.submission.action}`;
  switch (statusOf(action, false)) {
    case 'pending_approval':
      return { type: 'await_approval', poll_url: `${address}?wait=${POLL_WAIT_S}` };
    case 'authorized':
      if (!isReportable(action, timestampOf(clock.nowMs()))) return null;
      return {
        type: 'execute_at_edge',
        report_url: `${address}/result`,
        deadline: action.edge?.deadline ?? null,
      };
    default:
      return null;
  }
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
