import type { JsonObject } from '#libs/crypto';

import type { CredentialKind } from '../connector.events.js';

/** What a config may hold at most (docs/connectors-mcp-http.md, The config). */
export const MCP_LIMITS = {
  urlCharacters: 2_048,
  timeoutMs: { min: 100, max: 600_000, fallback: 30_000 },
  toolsTtlMs: { min: 0, max: 3_600_000, fallback: 30_000 },
} as const;

/** What happens to a tool that the server changed. */
export const TOOLS_PINS = ['changed', 'all', 'none'] as const;
export type ToolsPin = (typeof TOOLS_PINS)[number];

export const MCP_AUTH_KINDS = ['bearer', 'header', 'none'] as const satisfies readonly CredentialKind[];

export interface McpAuth {
  readonly kind: (typeof MCP_AUTH_KINDS)[number];
  readonly header?: string;
}

/** A config as stored: every default filled in. */
export interface McpConfig {
  readonly url: string;
  readonly auth: McpAuth;
  /** Of one HTTP request. */
  readonly timeout_ms: number;
  /** How old a list of tools may be. The server's own `ttlMs` counts where it is shorter. */
  readonly tools_ttl_ms: number;
  readonly tools_pin: ToolsPin;
}

/** What the log holds was checked before it was written. */
export const mcpConfigOf = (stored: JsonObject): McpConfig => stored as unknown as McpConfig;
