export { PostgresConnectorHealth } from './postgres-connector-health.js';
