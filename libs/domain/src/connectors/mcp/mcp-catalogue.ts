import type { CatalogueEntry } from '../connector-type.js';
import { CREDENTIAL_BODY_MAX_BYTES } from '../credential.js';
import { MCP_CONFIG_SCHEMA } from './mcp-config.schema.js';
import { MCP_LIMITS } from './mcp-config.js';
import { LIST_LIMITS } from './mcp-tool.js';

export const MCP_CATALOGUE: CatalogueEntry = {
  object: 'connector_type',
  type: 'mcp_http',
  title: 'MCP server',
  summary:
    'Governs the tools of a remote MCP server. A tool that the server changes waits until an admin has accepted the change.',
  status: 'beta',
  icon: 'mcp_http',
  modes: [],
  setup_steps: [
    'Say where the server is (url): its MCP endpoint over Streamable HTTP. Nothing else of it can be reached.',
    'Say how the credential travels (auth.kind), then store one of that kind. It can be replaced and destroyed, but not read.',
    'Test the connector. It asks the server for its tools, and says which of them cannot be served.',
    'Look at the tools, and allow them in the enforced policy. Under a default deny nothing else lets a call through.',
  ],
  limits: {
    tools: LIST_LIMITS.tools,
    tool_pages: LIST_LIMITS.pages,
    tool_definition_bytes: LIST_LIMITS.definitionBytes,
    tool_list_bytes: LIST_LIMITS.listBytes,
    credential_bytes: CREDENTIAL_BODY_MAX_BYTES,
    timeout_ms_min: MCP_LIMITS.timeoutMs.min,
    timeout_ms_max: MCP_LIMITS.timeoutMs.max,
    timeout_ms_default: MCP_LIMITS.timeoutMs.fallback,
    tools_ttl_ms_min: MCP_LIMITS.toolsTtlMs.min,
    tools_ttl_ms_max: MCP_LIMITS.toolsTtlMs.max,
    tools_ttl_ms_default: MCP_LIMITS.toolsTtlMs.fallback,
  },
  config_schema: MCP_CONFIG_SCHEMA,
  tools_dynamic: true,
  tools_from: 'server',
  tools: [],
  credentials: [
    {
      kind: 'bearer',
      summary: 'A token in the Authorization header.',
      fields: [{ name: 'token', secret: true, help: 'The token alone, without the word Bearer.', prefix_hint: null }],
    },
    {
      kind: 'header',
      summary: 'A value in a header of its own: auth.header names it, X-API-Key unless set.',
      fields: [{ name: 'value', secret: true, help: 'The whole value of the header.', prefix_hint: null }],
    },
    { kind: 'none', summary: 'The server needs no credential.', fields: [] },
  ],
  starter_policy: null,
};
