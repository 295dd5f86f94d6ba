export { installGateSchema } from './gate-schema.js';
export { LoggedRunningExecutions } from './logged-running-executions.js';
export { PepperIds } from './pepper-ids.js';
export { PostgresLiveness } from './postgres-liveness.js';
export { PostgresOpenExecutions } from './postgres-open-executions.js';
export { PostgresPayloadComparison } from './postgres-payload-comparison.js';
export { PostgresPayloadRows } from './postgres-payload-rows.js';
export { PostgresPayloadStore } from './postgres-payload-store.js';
