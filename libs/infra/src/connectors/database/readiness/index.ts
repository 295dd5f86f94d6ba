export { AGENT_ROLE_SQL, whyUnsafe } from './agent-role.js';
export { databaseChecks } from './database-checks.js';
export type { ReadinessTerms } from './readiness-terms.js';
export { type Session, SessionFailed, type SessionFault } from './session.js';
