export { inspectSchema, type SchemaState } from './installed-schema.js';
export { inspectRedis, type RedisState } from './inspect-redis.js';
export { inspectRole, type RoleState } from './role-rights.js';
