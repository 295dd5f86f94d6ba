import { DomainError, type Decider } from '../../kernel/index.js';
import type { ActionCommand } from './action.commands.js';
import type { ActionEvent, AmendmentCause } from './action.events.js';
import type { Action, FollowedAction, LivingAction } from './action.state.js';
import {
  afterApprovalDecision,
  afterCancel,
  afterExpiry,
  afterRequest,
  afterSignature,
  cancel,
  countersign,
  denyApproval,
  expireApproval,
  hasNeededAssertion,
  hasNeededSignatures,
  isPending,
} from './approval.decider.js';
import {
  afterProgress,
  afterReportedWitness,
  giveUpWitness,
  recordAbsence,
  recordProgress,
  reportWitness,
} from './change-log.decider.js';
import { withCommitments } from './commitments.js';
import { courseOf } from './decision-course.js';
import { afterAuthorization, afterLoss, afterReport, giveUpEdge, isAtTheEdge, reportEdge } from './edge.decider.js';
import { afterFinish, afterLateReport, afterReady, afterStart, claim, recordOutcome } from './execution.decider.js';
import { expireStart, giveUp } from './recovery.decider.js';
import { abandon, afterDecision, afterSubmission, submit } from './submission.decider.js';
import { afterAmendment, afterWitness, amendWitness, hasWitness, recordReadBack } from './witness.decider.js';

const initialState = (): Action => ({ state: 'none' });

/** Hands each command to the decider of its concern, where the rules are. */
const decide = (command: ActionCommand, state: Action): readonly ActionEvent[] => {
  switch (command.type) {
    case 'SubmitAction':
      return submit(command, state);
    case 'AbandonSubmission':
      return abandon(command, state);
    case 'ClaimExecution':
      return claim(command, living(state));
    case 'RecordOutcome':
      return recordOutcome(command, living(state));
    case 'GiveUpExecution':
      return giveUp(command, living(state));
    case 'ExpireStart':
      return expireStart(command, living(state));
    case 'RecordReadBack':
      return recordReadBack(command, living(state));
    case 'RecordProgress':
      return recordProgress(command, living(state));
    case 'ReportWitness':
      return reportWitness(command, living(state));
    case 'RecordAbsence':
      return recordAbsence(command, living(state));
    case 'GiveUpWitness':
      return giveUpWitness(command, living(state));
    case 'AmendWitness':
      return amendWitness(command, living(state));
    case 'Countersign':
      return countersign(command, living(state));
    case 'DenyApproval':
      return denyApproval(command, living(state));
    case 'ExpireApproval':
      return expireApproval(command, living(state));
    case 'CancelAction':
      return cancel(command, living(state));
    case 'ReportEdge':
      return reportEdge(command, living(state));
    case 'GiveUpEdge':
      return giveUpEdge(command, living(state));
  }
};

const living = (state: Action): LivingAction => {
  if (state.state === 'none' || state.state === 'abandoned') throw new DomainError('not_found');
  return state;
};

/**
 * Whether this service can have written the event after the events that led to `state`. An event that cannot follow was
 * written by something else; `evolve` ignores it, so it cannot change how an action ended (INV-18).
 */
export const doesFollow = (state: FollowedAction | Exclude<Action, LivingAction>, event: ActionEvent): boolean => {
  if (event.type === 'ActionSubmitted' || event.type === 'SubmissionAbandoned') return state.state === 'none';
  if (state.state === 'none' || state.state === 'abandoned') return false;
  if (event.type === 'LateReport') return state.attempts.some(({ claim }) => claim === event.data.claim);
  if (event.type === 'WitnessAmended') return state.state === 'recorded' && isAmendable(state, event.data.cause);
  if (state.state === 'recorded') return false;
  switch (event.type) {
    case 'ActionDecided':
      return state.decision === null;
    case 'ApprovalRequested':
      return isAsked(state) && state.approval === null;
    case 'ApprovalDecided':
      return isPending(state) && hasNeededSignatures(state, event.data);
    case 'ApprovalCountersigned':
      return isPending(state) && hasNeededAssertion(state, event.data);
    case 'ApprovalExpired':
    case 'ActionCancelled':
      return isPending(state);
    case 'ExecutionReady':
    case 'EdgeAuthorized':
      return mayRun(state) && state.ready === null && state.edge === null;
    case 'EdgeReported':
    case 'EdgeLost':
      return isAtTheEdge(state);
    case 'ExecutionStarted':
    case 'ExecutionProgress':
    case 'WitnessReported':
    case 'ExecutionFinished':
      return state.ready !== null && state.outcome === null;
    case 'ActionWitnessed':
      return state.outcome !== null;
  }
};

/** A failed call has no witness, but the change log may show that it had its effect all the same. */
const isAmendable = ({ witness, ready, outcome }: FollowedAction, cause: AmendmentCause): boolean =>
  witness !== null || (cause === 'late_witness' && ready !== null && outcome !== null);

const isAsked = ({ decision }: Pick<FollowedAction, 'decision'>): boolean =>
  decision !== null && courseOf(decision) === 'waits';

/** No approval is needed, or the approval was given. */
const mayRun = (action: FollowedAction): boolean =>
  action.decision !== null && (!isAsked(action) || action.approval?.status === 'approved');

const evolve = (state: Action, event: ActionEvent): Action => {
  if (state.state === 'none' && event.type === 'ActionSubmitted') return afterSubmission(event.data);
  if (event.type === 'SubmissionAbandoned') return state.state === 'none' ? { state: 'abandoned' } : state;
  if (state.state === 'none' || state.state === 'abandoned') return state;
  const next: LivingAction = { ...state, revision: state.revision + 1 };
  if (!doesFollow(state, event)) return next;
  const folded = withCommitments(fold(next, event), event);
  return isRecordedBy(event) ? recorded(folded) : folded;
};

/** The action after an event that may follow. `evolve` then checks whether the event ended the action. */
const fold = (action: LivingAction, event: Exclude<ActionEvent, { type: 'SubmissionAbandoned' }>): LivingAction => {
  switch (event.type) {
    case 'ActionDecided':
      return afterDecision(action, event.data);
    case 'ApprovalRequested':
      return afterRequest(action, event.data);
    case 'ApprovalCountersigned':
      return afterSignature(action, event.data);
    case 'ApprovalDecided':
      return afterApprovalDecision(action, event.data);
    case 'ApprovalExpired':
      return afterExpiry(action, event.data);
    case 'ActionCancelled':
      return afterCancel(action, event.data);
    case 'EdgeAuthorized':
      return afterAuthorization(action, event.data);
    case 'EdgeReported':
      return afterReport(action, event.data);
    case 'EdgeLost':
      return afterLoss(action, event.data);
    case 'ExecutionReady':
      return afterReady(action, event.data);
    case 'ExecutionStarted':
      return afterStart(action, event.data);
    case 'ExecutionProgress':
      return afterProgress(action, event.data);
    case 'WitnessReported':
      return afterReportedWitness(action, event.data);
    case 'ExecutionFinished':
      return afterFinish(action, event.data);
    case 'ActionWitnessed':
      return afterWitness(action, event.data);
    case 'WitnessAmended':
      return afterAmendment(action, event.data);
    case 'LateReport':
      return afterLateReport(action, event.data);
    case 'ActionSubmitted':
      return action;
  }
};

/** Whether the event gives a recorded action another deed. */
export const isAmendedBy = (event: ActionEvent): boolean => event.type === 'WitnessAmended';

/** Whether the event makes an action `recorded` that was not recorded before. */
export const isRecordedBy = (event: ActionEvent): boolean =>
  event.type === 'ActionWitnessed' ||
  (event.type === 'ActionDecided' && courseOf(event.data.decision) === 'ends') ||
  (event.type === 'ApprovalDecided' && event.data.outcome === 'denied') ||
  event.type === 'ApprovalExpired' ||
  event.type === 'ActionCancelled' ||
  (event.type === 'EdgeReported' && !hasWitness(event.data)) ||
  // A failed execution has no witness, so the action ends here.
  (event.type === 'ExecutionFinished' && !hasWitness(event.data));

const recorded = (action: LivingAction): LivingAction => ({
  ...action,
  state: 'recorded',
  sealingRevision: action.sealingRevision ?? action.revision,
});

export const actionDecider: Decider<Action, ActionCommand, ActionEvent> = {
  category: 'action',
  eventTypes: {
    ActionSubmitted: true,
    ActionDecided: true,
    ApprovalRequested: true,
    ApprovalCountersigned: true,
    ApprovalDecided: true,
    ApprovalExpired: true,
    ActionCancelled: true,
    EdgeAuthorized: true,
    EdgeReported: true,
    EdgeLost: true,
    ExecutionReady: true,
    ExecutionStarted: true,
    ExecutionProgress: true,
    WitnessReported: true,
    ExecutionFinished: true,
    ActionWitnessed: true,
    WitnessAmended: true,
    LateReport: true,
    SubmissionAbandoned: true,
  },
  initialState,
  decide,
  evolve,
  isOver: ({ state }) => state === 'recorded' || state === 'abandoned',
};
