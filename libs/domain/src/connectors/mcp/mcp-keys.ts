import type { ConfigPlace } from '../config-keys.js';

const config: ConfigPlace = {
  path: 'config',
  keys: ['url', 'auth', 'timeout_ms', 'tools_ttl_ms', 'tools_pin'],
};

/** The keys of an MCP config, by the object that holds them. */
export const MCP_PLACES = {
  config,
  auth: { path: 'config.auth', keys: ['kind', 'header'], within: config },
} as const satisfies Readonly<Record<string, ConfigPlace>>;
