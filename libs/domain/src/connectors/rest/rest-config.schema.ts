import type { ConfigSchema } from '../config-schema.js';
import { HTTP_METHODS } from '../http-request.js';
import { REST_LIMITS } from './rest-config.js';
import { TOOL_SCHEMA } from './rest-tool.schema.js';

const MORE = { more: true } as const;

/** What most leave as it is. */
const LIMITS: Readonly<Record<string, ConfigSchema>> = {
  timeout_ms: {
    type: 'integer',
    title: 'Timeout of a call, in milliseconds',
    description: 'For all attempts and the answer together.',
    minimum: REST_LIMITS.timeoutMs.min,
    maximum: REST_LIMITS.timeoutMs.max,
    default: REST_LIMITS.timeoutMs.fallback,
    'x-service-form': MORE,
  },
  max_response_bytes: {
    type: 'integer',
    title: 'Largest answer, in bytes',
    minimum: REST_LIMITS.maxResponseBytes.min,
    maximum: REST_LIMITS.maxResponseBytes.max,
    default: REST_LIMITS.maxResponseBytes.fallback,
    'x-service-form': MORE,
  },
  redirects: {
    title: 'Redirects',
    default: 'none',
    oneOf: [
      { const: 'none', title: 'Not followed' },
      { const: 'same_host', title: 'Followed for reads, on the same host' },
    ],
    'x-service-form': MORE,
  },
  send_action_id: {
    type: 'boolean',
    title: 'Send the action’s id as Service-Action-Id',
    default: true,
    'x-service-form': MORE,
  },
  headers: {
    type: 'object',
    title: 'Headers of every call',
    description: 'Never put a secret here: everyone who can read the connector sees them.',
    maxProperties: REST_LIMITS.headers,
    additionalProperties: { type: 'string', title: 'Value', maxLength: REST_LIMITS.headerValueBytes },
    'x-service-form': MORE,
  },
  test: {
    type: 'object',
    title: 'Request of a connection test',
    description: 'The read that a connection test sends, to check the credential.',
    required: ['path'],
    additionalProperties: false,
    properties: {
      method: { type: 'string', title: 'Method', enum: ['GET', 'HEAD'], default: 'GET' },
      path: { type: 'string', title: 'Path', maxLength: REST_LIMITS.pathCharacters, examples: ['/status'] },
    },
    'x-service-form': MORE,
  },
};

/**
 * The REST config for whoever draws a form of it: what each key is called and means, in the order in which a person goes
 * through them. The rules themselves are those of the readers beside this file; a spec holds the two together.
 */
export const REST_CONFIG_SCHEMA: ConfigSchema = {
  type: 'object',
  required: ['base_url', 'allowed_methods', 'allowed_path_prefixes', 'tools'],
  additionalProperties: false,
  properties: {
    base_url: {
      type: 'string',
      format: 'uri',
      title: 'Address of the API',
      description: 'The paths of tools are added to it. No user, query or fragment.',
      maxLength: REST_LIMITS.baseUrlCharacters,
      examples: ['https://api.example.com/v2'],
    },
    auth: {
      type: 'object',
      title: 'Authentication',
      description: 'The credential itself is stored separately and never shown.',
      additionalProperties: false,
      properties: {
        kind: {
          title: 'Kind',
          default: 'none',
          oneOf: [
            { const: 'none', title: 'None' },
            { const: 'bearer', title: 'Bearer token' },
            { const: 'header', title: 'Custom header' },
            { const: 'basic', title: 'User name and password' },
            { const: 'query', title: 'Query parameter' },
          ],
        },
        header: {
          type: 'string',
          title: 'Header',
          default: 'X-API-Key',
          'x-service-form': { when: { kind: ['header'] } },
        },
        param: {
          type: 'string',
          title: 'Parameter',
          default: 'api_key',
          'x-service-form': { when: { kind: ['query'] } },
        },
      },
    },
    allowed_methods: {
      type: 'array',
      title: 'Allowed methods',
      description: 'The service sends nothing else, whatever a tool says.',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', enum: [...HTTP_METHODS] },
    },
    allowed_path_prefixes: {
      type: 'array',
      title: 'Allowed paths',
      description: 'Each includes what lies under it: /users covers /users/42, but not /users-admin.',
      minItems: 1,
      maxItems: REST_LIMITS.pathPrefixes,
      items: { type: 'string', title: 'Path', maxLength: REST_LIMITS.pathCharacters, examples: ['/customers'] },
    },
    tools: {
      type: 'array',
      title: 'Tools',
      description: 'What agents can call. An argument that is not described is refused.',
      minItems: 1,
      maxItems: REST_LIMITS.tools,
      items: TOOL_SCHEMA,
    },
    ...LIMITS,
  },
};
