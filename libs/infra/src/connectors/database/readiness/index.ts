export { AGENT_ROLE_SQL, type AgentRoleRow, whyUnsafe } from './agent-role.js';
export { databaseChecks, type DatabaseCheckParts } from './database-checks.js';
export type { ReadinessTerms } from './readiness-terms.js';
export { type OpenSession, type Session, SessionFailed, type SessionFault } from './session.js';
