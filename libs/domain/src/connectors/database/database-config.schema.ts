import type { ConfigSchema } from '../config-schema.js';
import { ARGUMENT_TYPES, DATABASE_LIMITS } from './database-config.js';

const MORE = { more: true } as const;

const integer = (
  title: string,
  { min, max, fallback }: { readonly min: number; readonly max: number; readonly fallback: number },
  description?: string,
): ConfigSchema => ({
  type: 'integer',
  title,
  ...(description === undefined ? {} : { description }),
  minimum: min,
  maximum: max,
  default: fallback,
  'x-service-form': MORE,
});

const ARGUMENT: ConfigSchema = {
  type: 'object',
  title: 'Argument',
  required: ['name', 'type'],
  additionalProperties: false,
  properties: {
    name: { type: 'string', title: 'Name', pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$', examples: ['order_id'] },
    type: {
      type: 'string',
      title: 'Type',
      description: 'Numbers that must not lose a digit are numeric or bigint, and written as strings.',
      enum: [...ARGUMENT_TYPES],
    },
    description: {
      type: 'string',
      title: 'Description',
      description: 'Shown to agents and to approvers.',
      maxLength: DATABASE_LIMITS.descriptionCharacters,
    },
    required: { type: 'boolean', title: 'Required: it is never NULL', default: true },
  },
};

/** One tool, in the order in which a person describes it. */
const TOOL: ConfigSchema = {
  type: 'object',
  title: 'Tool',
  required: ['name', 'description', 'sql'],
  additionalProperties: false,
  properties: {
    name: {
      type: 'string',
      title: 'Name',
      description: 'Lower-case letters, digits and _. Not query or execute.',
      pattern: '^[a-z][a-z0-9_]{0,63}$',
      examples: ['refund_order'],
    },
    title: {
      type: 'string',
      title: 'Title',
      description: 'Begins with a verb. Approvers read it after "wants to".',
      maxLength: DATABASE_LIMITS.titleCharacters,
      examples: ['refund an order'],
    },
    description: {
      type: 'string',
      title: 'Description',
      description: 'Shown to agents and to approvers.',
      maxLength: DATABASE_LIMITS.descriptionCharacters,
    },
    sql: {
      type: 'string',
      title: 'Statement',
      description: 'One statement. $1 is the first argument, $2 the second.',
      maxLength: DATABASE_LIMITS.statementBytes,
      examples: ['UPDATE orders SET refunded = true WHERE id = $1'],
    },
    args: {
      type: 'array',
      title: 'Arguments, in the order of $1, $2 …',
      maxItems: DATABASE_LIMITS.args,
      items: ARGUMENT,
    },
    postcondition: {
      type: 'string',
      title: 'Extra check on the change log',
      description: 'CEL over args, rows and row_count: row_count == 1. Needs the witness.',
      maxLength: DATABASE_LIMITS.postconditionCharacters,
      'x-service-form': MORE,
    },
  },
};

const WITNESS: ConfigSchema = {
  type: 'object',
  title: 'Witness',
  description: 'The database’s own change log confirms each write (level L2).',
  additionalProperties: false,
  properties: {
    enabled: { type: 'boolean', title: 'On', default: false },
    slot: {
      type: 'string',
      title: 'Replication slot',
      description: 'By default named after the connector’s id.',
      pattern: '^[a-z0-9_]{1,63}$',
      'x-service-form': MORE,
    },
    publication: {
      type: 'string',
      title: 'Publication',
      description: 'By default named after the connector’s id.',
      pattern: '^[a-z0-9_]{1,63}$',
      'x-service-form': MORE,
    },
    timeout_ms: integer('How long the change log is waited for, in milliseconds', DATABASE_LIMITS.witnessTimeoutMs),
  },
};

const LIMITS: Readonly<Record<string, ConfigSchema>> = {
  statement_timeout_ms: integer('Timeout of a statement, in milliseconds', DATABASE_LIMITS.statementTimeoutMs),
  lock_timeout_ms: integer(
    'How long a lock is waited for, in milliseconds',
    { ...DATABASE_LIMITS.lockTimeoutMs, max: DATABASE_LIMITS.statementTimeoutMs.max },
    'At most as long as the statement may take.',
  ),
  max_rows_changed: integer(
    'Most rows that a call may change',
    DATABASE_LIMITS.rowsChanged,
    'With those of triggers and cascades. A call that changes more is rolled back.',
  ),
  max_rows_returned: integer('Most rows of an answer', DATABASE_LIMITS.rowsReturned),
  max_result_bytes: integer('Largest answer, in bytes', DATABASE_LIMITS.resultBytes),
};

const ALLOWED: Readonly<Record<string, ConfigSchema>> = {
  allowed_functions: {
    type: 'array',
    title: 'Functions that statements may call beside the plain ones',
    maxItems: DATABASE_LIMITS.allowedFunctions,
    uniqueItems: true,
    items: { type: 'string', title: 'Function', examples: ['sales.price_of'] },
    'x-service-form': MORE,
  },
  side_effect_tables: {
    type: 'array',
    title: 'Tables that triggers and cascades may change',
    maxItems: DATABASE_LIMITS.sideEffectTables,
    uniqueItems: true,
    items: { type: 'string', title: 'Table', examples: ['audit.log'] },
    'x-service-form': MORE,
  },
  allow_truncate: { type: 'boolean', title: 'Allow TRUNCATE', default: false, 'x-service-form': MORE },
  allow_catalog: {
    type: 'boolean',
    title: 'Allow queries of pg_catalog and information_schema',
    default: false,
    'x-service-form': MORE,
  },
};

const AUTH: ConfigSchema = {
  type: 'object',
  title: 'Authentication',
  description: 'The credential itself is stored separately and never shown.',
  additionalProperties: false,
  properties: {
    kind: { title: 'Kind', default: 'database', oneOf: [{ const: 'database', title: 'User names and passwords' }] },
  },
  'x-service-form': MORE,
};

/**
 * The config of a database for whoever draws a form of it, in the order in which a person goes through it. The rules
 * themselves are those of the readers beside this file; a spec holds the two together.
 */
export const DATABASE_CONFIG_SCHEMA: ConfigSchema = {
  type: 'object',
  required: ['host', 'database'],
  additionalProperties: false,
  properties: {
    host: {
      type: 'string',
      title: 'Host',
      description: 'A name or an address.',
      maxLength: DATABASE_LIMITS.hostCharacters,
      examples: ['db.example.com'],
    },
    port: {
      type: 'integer',
      title: 'Port',
      minimum: DATABASE_LIMITS.port.min,
      maximum: DATABASE_LIMITS.port.max,
      default: DATABASE_LIMITS.port.fallback,
    },
    database: { type: 'string', title: 'Database', maxLength: DATABASE_LIMITS.nameBytes, examples: ['shop'] },
    ssl: {
      title: 'Encryption',
      default: 'verify-full',
      oneOf: [
        { const: 'verify-full', title: 'TLS, and the certificate proves the host' },
        { const: 'require', title: 'TLS, whoever answers' },
        { const: 'disable', title: 'None: for development only' },
      ],
    },
    schemas: {
      type: 'array',
      title: 'Schemas',
      description: 'What lies outside of them cannot be reached. A name without a schema means the first that has it.',
      default: ['public'],
      minItems: 1,
      maxItems: DATABASE_LIMITS.schemas,
      uniqueItems: true,
      items: { type: 'string', title: 'Schema', examples: ['public'] },
    },
    tools: {
      type: 'array',
      title: 'Tools',
      description: 'Fixed statements with typed arguments, beside query and execute.',
      maxItems: DATABASE_LIMITS.tools,
      items: TOOL,
    },
    witness: WITNESS,
    watch_bypass: {
      type: 'boolean',
      title: 'Report changes that pass the service by',
      description: 'Needs the witness.',
      default: false,
      'x-service-form': MORE,
    },
    ...LIMITS,
    ...ALLOWED,
    auth: AUTH,
  },
};
