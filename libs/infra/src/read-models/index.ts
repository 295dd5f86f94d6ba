export { LAG_COUNT_LIMIT, ProjectionWaiter, READ_YOUR_WRITES_TIMEOUT_MS, type CaughtUp } from './projection-waiter.js';
export { storedText } from './columns.js';
export { ConnectorRow } from './connectors/connector.row.js';
export { ActionRow, type ListedActionState } from './gate/action.row.js';
export { DeedRow } from './ledger/deed.row.js';
export { likeContaining, likeGlob } from './like.js';
export { type LocalProjection, LocalProjections } from './local-projections.js';
export { type OrgRow, type OrgRows, type Page, ReadModels } from './org-rows.js';
export { PolicySlotRow } from './policies/policy-slot.row.js';
export { PolicyVersionRow } from './policies/policy-version.row.js';
export { PolicyRow } from './policies/policy.row.js';
export { PROJECTION_NAMES, type ProjectionName } from './projection-checkpoint.row.js';
export {
  CheckpointMoved,
  ProjectionDatabase,
  type ProjectionIdentity,
  type ResumePoint,
} from './projection-database.js';
export { LocalProjectionProgress, PolledProjectionProgress, ProjectionProgress } from './projection-progress.js';
export { installReadModels, readModelSource, type ReadModelSourceOptions } from './read-model-source.js';
export { RowTransaction, type RowType } from './row-transaction.js';
