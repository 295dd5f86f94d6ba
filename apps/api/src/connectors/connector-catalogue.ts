import {
  type ConnectorType,
  CREDENTIAL_BODY_MAX_BYTES,
  type CREDENTIAL_FIELDS,
  REST_LIMITS,
  SERVED_TYPES,
  type SideEffect,
} from '#libs/domain/connectors';

/** What a person who sets up a connector reads (document 3, REST connector config, the last paragraph on catalog entries). */
export type CatalogueEntry = {
  readonly object: 'connector_type';
  readonly type: ConnectorType;
  readonly title: string;
  readonly summary: string;
  readonly status: 'stable' | 'beta' | 'dev';
  /** Names an icon of the Console. */
  readonly icon: string;
  readonly modes: readonly ('sandbox_only' | 'drafts_only' | 'dev_only')[];
  /** In the order in which they are done. */
  readonly setup_steps: readonly string[];
  /** Sizes in bytes, times in milliseconds, as their names say. */
  readonly limits: Readonly<Record<string, number>>;
  /** The tools come from each connector's own config or server. */
  readonly tools_dynamic: boolean;
  /** The tools that every connector of the type has. */
  readonly tools: readonly CatalogueTool[];
  readonly credentials: readonly CatalogueCredential[];
};

type CatalogueTool = {
  readonly name: string;
  readonly side_effect: SideEffect;
  readonly levels: readonly ('L0' | 'L1' | 'L2')[];
  readonly read_back: string | null;
};

type CatalogueCredential = {
  readonly kind: keyof typeof CREDENTIAL_FIELDS;
  readonly summary: string;
  readonly fields: readonly CatalogueField[];
};

type CatalogueField = {
  readonly name: string;
  /** Hidden while it is typed. */
  readonly secret: boolean;
  readonly help: string;
  /** How such a value begins, where all of them begin alike. */
  readonly prefix_hint: string | null;
};

const field = (name: string, help: string, secret = true): CatalogueField => ({
  name,
  secret,
  help,
  prefix_hint: null,
});

const REST: CatalogueEntry = {
  object: 'connector_type',
  type: 'rest',
  title: 'REST API',
  summary:
    'Turns chosen requests of an HTTP API into tools. The credential is added when a request is sent, and agents never see it.',
  status: 'stable',
  icon: 'rest',
  modes: [],
  setup_steps: [
    'Say where the API is: base_url, allowed_methods and allowed_path_prefixes. Nothing else of it can be reached.',
    'Give each tool a name, a method, a path and its arguments. An argument that is not described is refused.',
    'Set auth.kind in the config and PUT a credential of that kind. It can be replaced and removed, but not read.',
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
  tools_dynamic: true,
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
};

const ENTRIES: Partial<Readonly<Record<ConnectorType, CatalogueEntry>>> = { rest: REST };

/** Every type this version serves, in the order of their titles. */
export const CONNECTOR_CATALOGUE: readonly CatalogueEntry[] = SERVED_TYPES.map((type) => {
  const entry = ENTRIES[type];
  if (!entry) throw new Error(`connector type ${type} is served and has no catalogue entry`);
  return entry;
}).sort((one, other) => (one.title < other.title ? -1 : 1));
