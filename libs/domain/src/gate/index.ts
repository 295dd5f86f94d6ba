export * from './action-brief.js';
export * from './action.commands.js';
export * from './action.decider.js';
export * from './action.events.js';
export * from './action.state.js';
export { countedFacts } from './counted-facts.js';
export * from './approval-id.js';
export * from './budget-reservations.port.js';
export * from './budget-settlement.process.js';
export {
  boundsOfAgent,
  boundsOfPolicy,
  type BoundedAgent,
  callsPerDayOf,
  chargesOf,
  countedPeriodOf,
  idOf as budgetIdOf,
  ownerOf as budgetOwnerOf,
  spendPerDayOf,
} from './budgets.js';
export { changedPaths, type ApprovalContext } from './approval-context.js';
export * from './approval-links.port.js';
export * from './approval-places.port.js';
export * from './approval-review.js';
export { signersOf } from './approvers.js';
export { costIn, medianExceededBy, paymentsIn, type CallCost } from './call-cost.js';
export * from './connector-registry.port.js';
export * from './due-action.process.js';
export * from './due-actions.port.js';
export { isRepeatableNow } from './execution.decider.js';
export * from './execution.process.js';
export * from './executor-silence.js';
export * from './gate-kernel.js';
export * from './gate.settings.js';
export * from './handlers/action-executor.js';
export * from './handlers/approval-mail-clerk.js';
export * from './handlers/approval-reviews.js';
export * from './handlers/cancel-action.handler.js';
export * from './handlers/chat-approvals.js';
export * from './handlers/decide-approval.command.js';
export * from './handlers/decide-approval.handler.js';
export * from './handlers/due-action-sweeper.js';
export { ConfirmAgain, ConfirmAgainHandler } from './handlers/confirm-again.handler.js';
export * from './handlers/execution-places.js';
export * from './handlers/execution-starter.js';
export * from './handlers/execution-sweeper.js';
export * from './handlers/inline-execution-starter.js';
export * from './handlers/linked-approvals.js';
export * from './handlers/report-edge-result.handler.js';
export * from './handlers/reservation-sweeper.js';
export * from './handlers/submit-action.command.js';
export * from './handlers/submit-action.handler.js';
export { hiddenCharactersIn } from './hidden-characters.js';
export * from './idempotent-id.js';
export * from './intent-nonces.port.js';
export { IntentRefused } from './intent-refusal.js';
export { checkIntent, type IntendedCall } from './judge-intent.js';
export * from './named-payload.js';
export * from './payload-comparison.port.js';
export * from './payload-rows.port.js';
export * from './payload-sweeper.js';
export * from './policy-judge.js';
export { type BesideDraft, policyOutcomeOf, PolicyPreview, type Unjudged } from './policy-preview.js';
export { recordedInput } from './recorded-input.js';
export * from './recovery.ports.js';
export * from './request-digest.js';
export * from './sealing-backlog.port.js';
export * from './submission.js';
export * from './tool-name.js';
export * from './unfinished-executions.js';
export { isReportable } from './edge.decider.js';
