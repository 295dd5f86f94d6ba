export { PostgresToolDefinitions } from './postgres-tool-definitions.js';
