// What the driver of libs/infra/src/connectors/database and the decoder need of the rules.
export { type BoundStatement, boundStatementOf, type BoundParameters, parametersOf } from './database-arguments.js';
export {
  type DatabaseArgument,
  type DatabaseConfig,
  databaseConfigOf,
  type DatabaseTool,
  destinationOf,
  publicationOf,
  slotOf,
  type SslMode,
} from './database-config.js';
export { readDatabaseConfig, storedDatabaseConfigOf } from './database-config.reader.js';
export { judgeChange } from './judge-change.js';
export { databaseToolsOf, describeDatabaseTools, type SideEffectOfSql } from './database-tools.js';
