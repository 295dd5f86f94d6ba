// The drivers of the types in libs/domain/src/connectors/served-types.ts, one line each (docs/add-a-connector.md).
export { CodeHostDriver } from './code-host/code-host-driver.js';
export { DatabaseDriver } from './database/database-driver.js';
export { FakeDriver } from './fake/fake-driver.js';
export { McpDriver } from './mcp/mcp-driver.js';
export { PaymentsDriver } from './payments/payments-driver.js';
export { RestDriver } from './rest/rest-driver.js';
