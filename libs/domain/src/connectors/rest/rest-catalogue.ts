import type { CatalogueEntry, CatalogueField } from '../connector-type.js';
import { CREDENTIAL_BODY_MAX_BYTES } from '../credential.js';
import { REST_LIMITS } from './rest-config.js';
import { REST_CONFIG_SCHEMA } from './rest-config.schema.js';

const field = (name: string, help: string, secret = true): CatalogueField => ({
  name,
  secret,
  help,
  prefix_hint: null,
});

export const REST_CATALOGUE: CatalogueEntry = {
  object: 'connector_type',
  type: 'rest',
  title: 'REST API',
  summary:
    'Turns chosen requests of an HTTP API into tools. The credential is added when a request is sent, and agents never see it.',
  status: 'stable',
  icon: 'rest',
  modes: [],
  setup_steps: [
    'Say where the API is, and which of its methods and paths tools may use (base_url, allowed_methods, allowed_path_prefixes). Nothing else of it can be reached.',
    'Give each tool a name, a method, a path and its arguments. An argument that is not described is refused.',
    'Say how the credential travels (auth.kind), then store one of that kind. It can be replaced and destroyed, but not read.',
    'Allow the tools in the enforced policy. Under a default deny nothing else lets a call through.',
  ],
  limits: {
    config_bytes: REST_LIMITS.configBytes,
    tools: REST_LIMITS.tools,
    args_per_tool: REST_LIMITS.args,
    headers: REST_LIMITS.headers,
    header_bytes: REST_LIMITS.headerValueBytes,
    credential_bytes: CREDENTIAL_BODY_MAX_BYTES,
    timeout_ms_min: REST_LIMITS.timeoutMs.min,
    timeout_ms_max: REST_LIMITS.timeoutMs.max,
    timeout_ms_default: REST_LIMITS.timeoutMs.fallback,
    max_response_bytes_min: REST_LIMITS.maxResponseBytes.min,
    max_response_bytes_max: REST_LIMITS.maxResponseBytes.max,
    max_response_bytes_default: REST_LIMITS.maxResponseBytes.fallback,
  },
  config_schema: REST_CONFIG_SCHEMA,
  tools_dynamic: true,
  tools_from: 'config',
  tools: [],
  credentials: [
    {
      kind: 'bearer',
      summary: 'A token in the Authorization header.',
      fields: [field('token', 'The token alone, without the word Bearer.')],
    },
    {
      kind: 'header',
      summary: 'A value in a header of its own: auth.header names it, X-API-Key unless set.',
      fields: [field('value', 'The whole value of the header.')],
    },
    {
      kind: 'basic',
      summary: 'A user name and a password in the Authorization header.',
      fields: [field('username', 'Without a colon.', false), field('password', 'As the API issued it.')],
    },
    {
      kind: 'query',
      summary:
        'A value in the query: auth.param names the parameter, api_key unless set. It may show up in logs of the API.',
      fields: [field('value', 'Unencoded; the service encodes it.')],
    },
    { kind: 'none', summary: 'The API needs no credential.', fields: [] },
  ],
  starter_policy: null,
};
