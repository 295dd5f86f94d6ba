export { loadSqlParser, type SqlParser } from './sql-parser.js';
export { type AcceptedStatement, type ReadStatement, type SqlRules, type StatementWrite } from './sql-statement.js';
