export { loadSqlParser, type SqlParser } from './sql-parser.js';
export {
  type AcceptedStatement,
  type ReadStatement,
  type RefusedStatement,
  type SqlRules,
  STATEMENT_MAX_BYTES,
  type StatementWrite,
} from './sql-statement.js';
