import type { ConfigPlace } from '../config-keys.js';

/** What to do with a server that is a program and no address. */
export const BRIDGE_FOR_STDIO =
  'An MCP server that speaks stdio is reached through a bridge, by a connector of type mcp_http: docs/mcp.md, Servers that speak stdio.';

const config: ConfigPlace = {
  path: 'config',
  keys: ['url', 'auth', 'timeout_ms', 'tools_ttl_ms', 'tools_pin'],
  misplaced: { command: BRIDGE_FOR_STDIO, args: BRIDGE_FOR_STDIO, env: BRIDGE_FOR_STDIO },
};

/** The keys of an MCP config, by the object that holds them. */
export const MCP_PLACES = {
  config,
  auth: { path: 'config.auth', keys: ['kind', 'header'], within: config },
} as const satisfies Readonly<Record<string, ConfigPlace>>;
