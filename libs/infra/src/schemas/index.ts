export { inspectSchemas, type SchemaReport } from './inspect-schemas.js';
export { installSchemas } from './install-schemas.js';
export { startedSchemas } from './schema-files.js';
export { UnfitDatabase } from './unfit-database.js';
