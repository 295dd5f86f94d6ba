export { PostgresConnectorHealth } from './postgres-connector-health.js';
export { PostgresDecoderRows } from './postgres-decoder-rows.js';
