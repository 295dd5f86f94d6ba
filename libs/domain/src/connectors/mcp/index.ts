// What the driver of libs/infra/src/connectors/mcp needs of the rules.
export { type McpConfig, mcpConfigOf } from './mcp-config.js';
export { headerValueOf, type MirroredHeader, mirroredHeadersOf, mirroredValues } from './mcp-headers.js';
export { type DefinedTool, definedTools, LIST_LIMITS, listDigestOf, mcpToolDigest } from './mcp-tool.js';
