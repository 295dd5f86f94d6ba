/** The revision of the Model Context Protocol without a handshake: each request says all of itself. */
export const MCP_MODERN = '2026-07-28';
/** The revisions whose clients begin with `initialize`, the newest first. */
export const MCP_HANDSHAKES = ['2025-11-25', '2025-06-18', '2025-03-26'] as const;

/** Before the names of `_meta` that are the protocol's own (revision 2026-07-28, basic, `_meta`). */
export const MCP_META = 'io.modelcontextprotocol';

/** Error codes of JSON-RPC 2.0, section 5.1, and those that MCP adds (revision 2026-07-28, basic, Error Codes). */
export const RPC_CODE = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const;
