import type { JsonObject, JsonValue } from '#libs/crypto';
import { isReportable, statusOf, type LivingAction } from '#libs/domain/gate';
import { timestampOf, type Clock, type DeedId } from '#libs/domain/kernel';

/** What the public form of an action is made from. */
export interface ActionFacts {
  readonly action: LivingAction;
  /** Null while the action is not sealed. */
  readonly deed: DeedId | null;
}

/** What the view needs to know about the request. */
export interface Viewpoint {
  /** The base URL of the addresses in `next_action`. */
  readonly baseUrl: string;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** What the answer to a submission or to GET of one action shows in addition to a list (rule GATE-14). */
export interface OwnAnswer {
  /** Gives the result, or null if there is none. Called when the response is written. */
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
    cost: action.outcome?.cost === undefined ? null : { ...action.outcome.cost },
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

/** The longest wait of GET for an action, in seconds (rule GATE-10). */
const POLL_WAIT_S = 25;

/**
 * What the caller has to do next. It depends only on recorded events and the deadline, so a repeated request gets the
 * same answer. Null after the deadline of a call at the edge, even before a sweeper ends it, because a report would be
 * refused.
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

/**
 * A placeholder that becomes the value when the response is written to JSON. It has a `toJSON` method and no getter,
 * because V8 makes a hidden class for each object with a getter of its own.
 */
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
