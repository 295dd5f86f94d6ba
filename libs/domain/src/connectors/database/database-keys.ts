import type { ConfigPlace } from '../config-keys.js';

const CREDENTIALS =
  'User names and passwords are stored with the credentials route, PUT /v1/connectors/{id}/credentials, and nowhere else.';
const NO_URL = 'Say host, port and database as keys of their own. A user and a password go to the credentials route.';

const config: ConfigPlace = {
  path: 'config',
  keys: [
    'host',
    'port',
    'database',
    'auth',
    'ssl',
    'schemas',
    'statement_timeout_ms',
    'lock_timeout_ms',
    'max_rows_changed',
    'max_rows_returned',
    'max_result_bytes',
    'allowed_functions',
    'side_effect_tables',
    'allow_truncate',
    'allow_catalog',
    'tools',
    'witness',
    'watch_bypass',
  ],
  misplaced: {
    user: CREDENTIALS,
    username: CREDENTIALS,
    password: CREDENTIALS,
    url: NO_URL,
    dsn: NO_URL,
    connection_string: NO_URL,
  },
};

const tool: ConfigPlace = {
  path: 'config.tools[]',
  keys: ['name', 'title', 'description', 'sql', 'args', 'postcondition'],
  within: config,
  misplaced: { side_effect: 'What a statement does is read from its own text.' },
};

/** The keys of a database config, by the object that holds them. */
export const DATABASE_PLACES = {
  config,
  auth: { path: 'config.auth', keys: ['kind'], within: config },
  tool,
  argument: { path: 'config.tools[].args[]', keys: ['name', 'type', 'description', 'required'], within: tool },
  witness: { path: 'config.witness', keys: ['enabled', 'slot', 'publication', 'timeout_ms'], within: config },
} as const satisfies Readonly<Record<string, ConfigPlace>>;
