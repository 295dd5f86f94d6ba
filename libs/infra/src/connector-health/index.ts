export { installConnectorHealthSchema } from './health-schema.js';
export { PostgresConnectorHealth } from './postgres-connector-health.js';
