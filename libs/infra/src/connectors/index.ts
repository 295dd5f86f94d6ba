export { ConnectorDrivers } from './connector-drivers.js';
export { loadSqlParser, type SqlParser } from './database/sql/index.js';
export type { DriverTools } from './driver-tools.js';
export { GuardedStream } from './database/guarded-stream.js';
