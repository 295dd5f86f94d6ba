import type { ActionId, AgentId, ApprovalId, OrgId, TraceContext, UserId } from '../../kernel/index.js';
import { doesFollow, isRecordedBy } from './action.decider.js';
import type { ActionEvent, Decision } from './action.events.js';
import type { ApprovalStatus, FollowedAction } from './action.state.js';

/**
 * A short form of an action, about a tenth of its full size, for a projection that keeps a row for every action. It
 * holds the facts that one event states and later events do not repeat, and what {@link doesFollow} needs to tell which
 * events may follow. Not for decisions.
 */
export interface ActionBrief extends FollowedAction {
  readonly action: ActionId;
  readonly org: OrgId;
  readonly agent: AgentId;
  readonly tool: string;
  readonly livemode: boolean;
  /** Absent if the call sent no trace context. */
  readonly trace?: TraceContext;
  readonly decision: Pick<Decision, 'outcome'> | null;
  readonly approval: BriefApproval | null;
  readonly ready: true | null;
  readonly edge: true | null;
  readonly outcome: true | null;
  readonly witness: true | null;
  /** Always empty, so no LateReport ever follows: a late report changes nothing in a brief. */
  readonly attempts: readonly [];
}

export interface BriefApproval {
  readonly id: ApprovalId;
  readonly status: ApprovalStatus;
  readonly terms: { readonly rule_id: string | null; readonly required: number; readonly signed?: true };
  readonly signatures: readonly { readonly by: UserId }[];
}

/**
 * The brief after an event. Returns the same object if the event changes nothing, or if it cannot follow the events so
 * far ({@link doesFollow}). Null before the submission.
 */
export const briefAfter = (brief: ActionBrief | null, event: ActionEvent): ActionBrief | null => {
  if (brief === null) return event.type === 'ActionSubmitted' ? submitted(event.data) : null;
  if (!doesFollow(brief, event)) return brief;
  const next = followedBy(brief, event);
  return isRecordedBy(event) ? { ...next, state: 'recorded' } : next;
};

const submitted = (data: Extract<ActionEvent, { type: 'ActionSubmitted' }>['data']): ActionBrief => ({
  action: data.action,
  org: data.org,
  agent: data.agent,
  tool: data.tool,
  livemode: data.livemode,
  ...(data.trace === undefined ? {} : { trace: data.trace }),
  state: 'executing',
  decision: null,
  approval: null,
  ready: null,
  edge: null,
  outcome: null,
  witness: null,
  attempts: [],
});

const followedBy = (brief: ActionBrief, event: ActionEvent): ActionBrief => {
  switch (event.type) {
    case 'ActionDecided':
      return { ...brief, decision: { outcome: event.data.decision.outcome } };
    case 'ApprovalRequested': {
      const { approval: id, rule_id, required, signed } = event.data;
      const terms = signed === undefined ? { rule_id, required } : { rule_id, required, signed };
      const approval = { id, status: 'pending', terms, signatures: [] } as const;
      return { ...brief, state: 'pending_approval', approval };
    }
    case 'ApprovalCountersigned':
      return withApproval(brief, ({ signatures }) => ({ signatures: [...signatures, { by: event.data.by }] }));
    case 'ApprovalDecided':
      return { ...withApproval(brief, () => ({ status: event.data.outcome })), state: 'executing' };
    case 'ApprovalExpired':
      return withApproval(brief, () => ({ status: 'expired' }));
    case 'ActionCancelled':
      return withApproval(brief, () => ({ status: 'cancelled' }));
    case 'ExecutionReady':
      return { ...brief, ready: true };
    case 'EdgeAuthorized':
      return { ...brief, edge: true };
    case 'ExecutionFinished':
    case 'EdgeReported':
    case 'EdgeLost':
      return { ...brief, outcome: true, state: 'witnessing' };
    case 'ActionWitnessed':
      return { ...brief, witness: true };
    case 'WitnessAmended':
      // A copy, so that the caller sees that the action changed, although the brief does not hold the amended witness. A
      // failed call has none before.
      return { ...brief, witness: true };
    case 'ActionSubmitted':
    case 'ExecutionStarted':
    case 'ExecutionProgress':
    case 'WitnessReported':
    case 'LateReport':
    case 'SubmissionAbandoned':
      return brief;
  }
};

const withApproval = (brief: ActionBrief, change: (approval: BriefApproval) => Partial<BriefApproval>): ActionBrief =>
  brief.approval === null ? brief : { ...brief, approval: { ...brief.approval, ...change(brief.approval) } };
