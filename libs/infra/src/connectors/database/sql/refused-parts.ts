import { type Refusal, refusal } from './refusal.js';

const PLAIN = 'Send one plain SELECT, INSERT, UPDATE, DELETE or MERGE';

/** How a person calls a part that is refused, by the parser's name of it. */
const PARTS: Readonly<Record<string, string>> = {
  TransactionStmt: 'begin, end or divide a transaction',
  VariableSetStmt: 'SET or RESET a setting',
  VariableShowStmt: 'SHOW a setting',
  DoStmt: 'DO a block of code',
  CallStmt: 'CALL a procedure',
  CopyStmt: 'COPY a table or a file',
  ExplainStmt: 'EXPLAIN another',
  PrepareStmt: 'PREPARE another',
  ExecuteStmt: 'EXECUTE a prepared one',
  DeallocateStmt: 'DEALLOCATE a prepared one',
  LockStmt: 'LOCK a table',
  ListenStmt: 'LISTEN to a channel',
  UnlistenStmt: 'UNLISTEN a channel',
  NotifyStmt: 'NOTIFY a channel',
  LoadStmt: 'LOAD a library',
  DiscardStmt: 'DISCARD what the session holds',
  DeclareCursorStmt: 'DECLARE a cursor',
  FetchStmt: 'FETCH from or MOVE a cursor',
  ClosePortalStmt: 'CLOSE a cursor',
  VacuumStmt: 'VACUUM or ANALYZE a table',
  CheckPointStmt: 'run a CHECKPOINT',
  ConstraintsSetStmt: 'SET CONSTRAINTS',
  RefreshMatViewStmt: 'REFRESH a materialized view',
  GrantStmt: 'GRANT or REVOKE a privilege',
  GrantRoleStmt: 'GRANT or REVOKE a role',
  CreateTableAsStmt: 'create a table',
  AlterSystemStmt: 'ALTER SYSTEM',
  CurrentOfExpr: 'point at the row of a cursor (WHERE CURRENT OF)',
  MultiAssignRef: 'set several columns by one bracket',
  RangeTableFunc: 'use XMLTABLE',
  JsonTable: 'use JSON_TABLE',
  XmlExpr: 'build or read XML',
  XmlSerialize: 'build or read XML',
  JsonParseExpr: 'use JSON()',
  JsonScalarExpr: 'use JSON_SCALAR()',
  JsonSerializeExpr: 'use JSON_SERIALIZE()',
  IntoClause: 'create a table by SELECT INTO',
};

/** The parser's names are in camel case: `AlterTableStmt` is read as `alter table`. */
const inWords = (type: string): string =>
  type
    .replace(/(Stmt|Expr)$/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .replaceAll('_', ' ')
    .toLowerCase();

export const refusedRoot = (type: string): Refusal =>
  refusal(PARTS[type] ?? `define or administer anything (${inWords(type)})`, PLAIN);

export const refusedPart = (type: string): Refusal =>
  refusal(PARTS[type] ?? `hold a part of this kind (${inWords(type)})`, 'Write it without that part');

/** A field beside those that are known: its name is the parser's own. */
export const refusedField = (type: string, field: string): Refusal =>
  refusal(
    `hold this form of a known part (${inWords(type)}: ${field.replaceAll('_', ' ').toLowerCase()})`,
    'Write it without that form',
  );
