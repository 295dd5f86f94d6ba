import type { ConnectorTypeRules } from '../connector-type.js';
import { MCP_CATALOGUE } from './mcp-catalogue.js';
import { mcpConfigOf } from './mcp-config.js';
import { readMcpConfig, storedMcpConfigOf } from './mcp-config.reader.js';

export const MCP_HTTP: ConnectorTypeRules = {
  catalogueEntry: MCP_CATALOGUE,
  addressKey: 'url',
  readConfig: (config, settings) => storedMcpConfigOf(readMcpConfig(config, settings)),
  destinationsOf: (config) => [mcpConfigOf(config).url],
};
