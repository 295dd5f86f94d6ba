import type { ConfigSchema } from '../config-schema.js';
import { MCP_LIMITS } from './mcp-config.js';

const MORE = { more: true } as const;

/**
 * The config of an MCP server for whoever draws a form of it. The rules themselves are those of the reader beside this
 * file; a spec holds the two together.
 */
export const MCP_CONFIG_SCHEMA: ConfigSchema = {
  type: 'object',
  required: ['url'],
  additionalProperties: false,
  properties: {
    url: {
      type: 'string',
      format: 'uri',
      title: 'Address of the server',
      description:
        'Its MCP endpoint. No user, password or fragment. Never put a secret here: everyone who can read the connector sees it.',
      maxLength: MCP_LIMITS.urlCharacters,
      examples: ['https://mcp.example.com/mcp'],
    },
    auth: {
      type: 'object',
      title: 'Authentication',
      description: 'The credential itself is stored separately and never shown.',
      additionalProperties: false,
      properties: {
        kind: {
          title: 'Kind',
          default: 'bearer',
          oneOf: [
            { const: 'bearer', title: 'Bearer token' },
            { const: 'header', title: 'Custom header' },
            { const: 'none', title: 'None' },
          ],
        },
        header: {
          type: 'string',
          title: 'Header',
          default: 'X-API-Key',
          'x-service-form': { when: { kind: ['header'] } },
        },
      },
    },
    tools_pin: {
      title: 'Tools that the server changes',
      description: 'A tool that waits cannot be called until an admin has looked at it.',
      default: 'changed',
      oneOf: [
        { const: 'changed', title: 'Changed tools wait for an admin, new ones do not' },
        { const: 'all', title: 'Changed and new tools wait for an admin' },
        { const: 'none', title: 'Nothing waits: changes are recorded' },
      ],
      'x-service-form': MORE,
    },
    timeout_ms: {
      type: 'integer',
      title: 'Timeout of a request, in milliseconds',
      description: 'Of each HTTP request, with its whole answer.',
      minimum: MCP_LIMITS.timeoutMs.min,
      maximum: MCP_LIMITS.timeoutMs.max,
      default: MCP_LIMITS.timeoutMs.fallback,
      'x-service-form': MORE,
    },
    tools_ttl_ms: {
      type: 'integer',
      title: 'How long a list of tools counts, in milliseconds',
      description: 'The server may ask for less. With 0 it is asked before each call.',
      minimum: MCP_LIMITS.toolsTtlMs.min,
      maximum: MCP_LIMITS.toolsTtlMs.max,
      default: MCP_LIMITS.toolsTtlMs.fallback,
      'x-service-form': MORE,
    },
  },
};
