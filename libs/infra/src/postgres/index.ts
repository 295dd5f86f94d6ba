export { answered } from './answered.js';
export { bigintArray, textArray, uuidArray } from './binary-arrays.js';
export { translateDatabaseError } from './database-errors.js';
export { EmbeddedPostgresError, type ServerAccount } from './embedded-postgres-error.js';
export {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  isEmbeddedPostgresRunning,
  startEmbeddedPostgres,
} from './embedded-server.js';
export { allowOnlyScram, DatabaseClient } from './database-client.js';
export { ensureDatabase, requireReachable } from './ensure-database.js';
export { inTransaction, type Transaction } from './in-transaction.js';
export { MortalClient } from './mortal-client.js';
export { packagedPostgresVersion } from './server-binaries.js';
export { dataDirOf, requireServerSite, serverAccountFor, type ServerPurpose } from './server-site.js';
export {
  createDurablePool,
  createReadOnlyPool,
  createRelaxedPool,
  IDLE_CONNECTIONS,
  type PoolOptions,
  poolVerify,
} from './pools.js';
export { adviceOnRefusedWrite } from './refused-writes.js';
export { isPassing, isRefusedStatement, sqlStateOf } from './sql-state.js';
export { isDatabaseUnusable } from './unusable.js';
export { WriteDoubt } from './write-doubt.js';
