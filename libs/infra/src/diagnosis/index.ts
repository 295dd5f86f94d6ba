export { type ConnectorsState, inspectConnectors } from './connector-health.js';
export { inspectSchema, type SchemaState } from './installed-schema.js';
export { inspectProjections, PROJECTION_LAG_LIMIT, type ProjectionLag } from './projection-lag.js';
export { inspectRedis, type RedisState } from './inspect-redis.js';
export { type DatabaseState, type DecoderState, inspectDatabases } from './witnessed-databases.js';
export { inspectRole, type RoleState } from './role-rights.js';
