export { PostgresApprovalLinks } from './postgres-approval-links.js';
export { PostgresApprovalPlaces } from './postgres-approval-places.js';
