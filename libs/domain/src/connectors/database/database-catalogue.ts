import type { CatalogueEntry } from '../connector-type.js';
import { CREDENTIAL_BODY_MAX_BYTES } from '../credential.js';
import { DATABASE_LIMITS } from './database-config.js';
import { DATABASE_CONFIG_SCHEMA } from './database-config.schema.js';

const { statementTimeoutMs, rowsChanged, rowsReturned, resultBytes, witnessTimeoutMs } = DATABASE_LIMITS;

export const DATABASE_CATALOGUE: CatalogueEntry = {
  object: 'connector_type',
  type: 'database',
  title: 'PostgreSQL database',
  summary:
    'Runs one statement at a time, each in a transaction of its own that is rolled back where it changes more than allowed. With the witness on, the database’s own change log confirms every write.',
  status: 'stable',
  icon: 'database',
  modes: [],
  setup_steps: [
    'Say where the database is (host, port, database), and which of its schemas agents may reach. Nothing outside of them can be read or changed.',
    'Have its owner create a role for the agents, with the grants they need and no more, and for the witness a second one that may replicate: `npm run ags -- database setup-sql` prints the SQL.',
    'Store the credential of kind database: user name and password, and those of the witness where it is on. It can be replaced and destroyed, but not read.',
    'Test the connector. It says what of the set-up is missing, and the SQL that mends it.',
    'Allow the tools in the enforced policy. Under a default deny nothing else lets a call through.',
  ],
  limits: {
    config_bytes: DATABASE_LIMITS.configBytes,
    tools: DATABASE_LIMITS.tools,
    args_per_tool: DATABASE_LIMITS.args,
    statement_bytes: DATABASE_LIMITS.statementBytes,
    params: DATABASE_LIMITS.params,
    schemas: DATABASE_LIMITS.schemas,
    credential_bytes: CREDENTIAL_BODY_MAX_BYTES,
    statement_timeout_ms_min: statementTimeoutMs.min,
    statement_timeout_ms_max: statementTimeoutMs.max,
    statement_timeout_ms_default: statementTimeoutMs.fallback,
    max_rows_changed_max: rowsChanged.max,
    max_rows_changed_default: rowsChanged.fallback,
    max_rows_returned_max: rowsReturned.max,
    max_rows_returned_default: rowsReturned.fallback,
    max_result_bytes_min: resultBytes.min,
    max_result_bytes_max: resultBytes.max,
    max_result_bytes_default: resultBytes.fallback,
    witness_timeout_ms_min: witnessTimeoutMs.min,
    witness_timeout_ms_max: witnessTimeoutMs.max,
    witness_timeout_ms_default: witnessTimeoutMs.fallback,
  },
  config_schema: DATABASE_CONFIG_SCHEMA,
  tools_dynamic: true,
  tools_from: 'config',
  tools: [
    { name: 'query', side_effect: 'read', levels: ['L0'], read_back: null },
    { name: 'execute', side_effect: 'write', levels: ['L0', 'L2'], read_back: null },
  ],
  credentials: [
    {
      kind: 'database',
      summary: 'The role that agents’ statements run as, and the role that reads the change log.',
      fields: [
        {
          name: 'username',
          secret: false,
          help: 'A role with the grants that agents need, and no more.',
          prefix_hint: null,
        },
        { name: 'password', secret: true, help: 'Of that role.', prefix_hint: null },
        {
          name: 'witness_username',
          secret: false,
          help: 'A role of its own that may replicate and write nothing. Leave it empty while witness.enabled is false.',
          prefix_hint: null,
          optional: true,
        },
        {
          name: 'witness_password',
          secret: true,
          help: 'Of that role. Leave it empty where there is none.',
          prefix_hint: null,
          optional: true,
        },
      ],
    },
  ],
  starter_policy: null,
};
