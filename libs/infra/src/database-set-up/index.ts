export { quotedName, quotedTable, quotedText, type TableName } from './quoted.js';
export { newPassword, scramVerifier } from './scram-verifier.js';
export { setUpScript } from './set-up-script.js';
export { setUpSql, type SetUpStatement, type SetUpTerms } from './set-up-sql.js';
export type { SetUpTable } from './set-up-table.js';
