// The types this version serves, one line each, by their names (docs/add-a-connector.md). Each has a driver in
// libs/infra/src/connectors/served-drivers.ts.
export { CODE_HOST as code_host } from './code-host/code-host-type.js';
export { DATABASE as database } from './database/database-type.js';
export { FAKE as fake } from './fake/fake-type.js';
export { MCP_HTTP as mcp_http } from './mcp/mcp-type.js';
export { PAYMENTS as payments } from './payments/payments-type.js';
export { REST as rest } from './rest/rest-type.js';
