export { ConnectorDrivers } from './connector-drivers.js';
export { loadSqlParser, type SqlParser } from './database/sql/index.js';
export type { DriverTools } from './driver-tools.js';
