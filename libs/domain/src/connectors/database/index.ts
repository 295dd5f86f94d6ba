// What the driver of libs/infra/src/connectors/database and the decoder need of the rules.
export { boundStatementOf } from './database-arguments.js';
export {
  DATABASE_LIMITS,
  type DatabaseConfig,
  databaseConfigOf,
  destinationOf,
  publicationOf,
  slotOf,
} from './database-config.js';
export { readDatabaseConfig, storedDatabaseConfigOf } from './database-config.reader.js';
export { judgeChange } from './judge-change.js';
export { describeDatabaseTools } from './database-tools.js';
