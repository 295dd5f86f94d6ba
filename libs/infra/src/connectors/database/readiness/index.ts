export {
  AGENT_ROLE_SQL,
  type AgentRoleFacts,
  agentRoleFacts,
  agentRoleFaults,
  type AgentRoleRow,
  type RoleFault,
  whyUnsafe,
} from './agent-role.js';
export { databaseChecks, type DatabaseCheckParts } from './database-checks.js';
export { isDatabaseName, quotedName, quotedTable, quotedText, type TableName } from './quoted.js';
export type { ReadinessTerms } from './readiness-terms.js';
export { type OpenSession, type Session, SessionFailed, type SessionFault } from './session.js';
export { newPassword, scramVerifier } from './scram-verifier.js';
export { setUpScript } from './set-up-script.js';
export { setUpSql, type SetUpStatement, type SetUpStep, type SetUpTable, type SetUpTerms } from './set-up-sql.js';
