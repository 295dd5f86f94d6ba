export { type ActionBrief, briefAfter, type BriefApproval } from './action-brief.js';
export {
  type ActionCommand,
  type Claimant,
  type EdgeTerms,
  type ExecutionTerms,
  type FoundOutcome,
  type ReadBackResult,
  type SilenceReason,
} from './action.commands.js';
export { actionDecider, doesFollow, isAmendedBy, isRecordedBy } from './action.decider.js';
export {
  type ActionEvent,
  type ActionMode,
  type ApprovalTerms,
  type ApprovalVia,
  type ApproverAnswer,
  type BudgetCharge,
  type Decision,
  type EdgeReport,
  type ExecutionOutcome,
  type ExecutionStatus,
  type ShadowDecision,
  type Submission,
  type SubmissionOrigin,
  type SubmittedIntent,
  type WitnessVerdict,
} from './action.events.js';
export {
  type Action,
  ACTION_STATES,
  ACTION_STATUSES,
  type ActionStatus,
  type Approval,
  APPROVAL_STATUSES,
  type ApprovalStatus,
  awaitsReadBack,
  beganAt,
  currentAttempt,
  type ExecutionAttempt,
  type LivingAction,
  progressOf,
  type RecordedState,
  remainingAtClaimMs,
  sendableToolDigest,
  statusOf,
} from './action.state.js';
export { actionOfApproval, approvalOf } from './approval-id.js';
export { CHANGE_LOG_REASONS, type ChangeLogReason, verdictOf } from './change-log-verdict.js';
export { commitmentTo, digestOfText } from './commitments.js';
export { courseOf } from './decision-course.js';
export { isReportable } from './edge.decider.js';
export { isRepeatableNow } from './execution.decider.js';
export { forwardedTrace } from './forwarded-trace.js';
export { IDEMPOTENCY_WINDOW_MS, IdempotentIds, lastGeneration } from './idempotent-id.js';
export { connectorRefOf, type Execution, executorMetadata, type FoundByCommit, isLiving } from './living-action.js';
export { comparisonDigestOf, requestDigestOf, requestTextOf } from './request-digest.js';
export { keptToolName, parseToolName, type ToolName } from './tool-name.js';
export { type Postcondition, type SeenTransaction, seenOf } from './seen-transaction.js';
export { requireAmendable } from './witness.decider.js';
