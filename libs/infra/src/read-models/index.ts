export { AgentRow } from './agents/agent.row.js';
export { ProjectionWaiter, READ_YOUR_WRITES_TIMEOUT_MS } from './projection-waiter.js';
export { storedText } from './columns.js';
export { ConnectorReads } from './connectors/connector-reads.js';
export { ConnectorRow } from './connectors/connector.row.js';
export { BriefedActionRow } from './events/briefed-action.row.js';
export { BriefedConnectorRow } from './events/briefed-connector.row.js';
export {
  type NeededPublicEvents,
  PUBLIC_EVENT_DAYS,
  PUBLIC_EVENT_FLOOR,
  PublicEventPruning,
} from './events/public-event-floor.js';
export { type PublicEventReach, PublicEventReads } from './events/public-event-reads.js';
export { PublicEventRow } from './events/public-event.row.js';
export { ActionRow } from './gate/action.row.js';
export { WaitingActionReads } from './gate/waiting-action-reads.js';
export { ApprovalRow } from './approvals/approval.row.js';
export { HourlyCountRow } from './insights/hourly-count.row.js';
export { HourlyTotalRow } from './insights/hourly-total.row.js';
export type { ActionCount, CountedBy, CountedPeriod } from './insights/hourly-reads.js';
export { CheckpointRow, checkpointRowId } from './ledger/checkpoint.row.js';
export { CosignatureRow, cosignatureRowId } from './ledger/cosignature.row.js';
export { SignedTreeReads } from './ledger/signed-tree-reads.js';
export { DeedRow } from './ledger/deed.row.js';
export { likeContaining, likeGlob } from './like.js';
export { type LocalProjection, LocalProjections } from './local-projections.js';
export { type OrgRow, type OrgRows, type Page, ReadModels } from './org-rows.js';
export type { PartCount } from './insights/part-reads.js';
export {
  SECURITY_EVENT_TYPES,
  SecurityEventRow,
  type SecurityEventKey,
  type SecurityEventType,
} from './people/security-event.row.js';
export { PolicySlotRow } from './policies/policy-slot.row.js';
export { PolicyVersionRow } from './policies/policy-version.row.js';
export { PolicyRow } from './policies/policy.row.js';
export { PROJECTION_NAMES, type ProjectionName } from './projection-checkpoint.row.js';
export { CheckpointMoved, OtherIdentity, ProjectionDatabase, type ProjectionIdentity } from './projection-database.js';
export { LocalProjectionProgress, PolledProjectionProgress, ProjectionProgress } from './projection-progress.js';
export { readModelSource } from './read-model-source.js';
export type { RebuildReport, RebuildTask } from './rebuild-report.js';
export { ReplacementTables } from './replacement-tables.js';
export type { RowDifference } from './row-comparison.js';
export type { RowFloor } from './row-floor.js';
export { type IdentifiedRow, RowTransaction, type RowType } from './row-transaction.js';
