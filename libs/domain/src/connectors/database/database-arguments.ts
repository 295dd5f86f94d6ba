import { canonicalize, type JsonObject, type JsonValue } from '#libs/crypto';

import { parseTimestamp } from '../../kernel/index.js';
import type { ArgumentFault } from '../connector-driver.port.js';
import {
  type ArgumentType,
  DATABASE_LIMITS,
  type DatabaseArgument,
  type DatabaseTool,
  type DatabaseConfig,
} from './database-config.js';
import { OWN_TOOLS, statementTextFault } from './database-tool.reader.js';

/** What stands for `$1`, `$2` and so on: the text of each value, as PostgreSQL reads it. Null is NULL. */
export type Parameters = readonly (string | null)[];

/** A statement and its parameters, or why the arguments give none. */
export type BoundStatement =
  | { readonly ok: true; readonly sql: string; readonly params: Parameters }
  | { readonly ok: false; readonly fault: ArgumentFault };

export type BoundParameters =
  { readonly ok: true; readonly params: Parameters } | { readonly ok: false; readonly fault: ArgumentFault };

interface TypeRule {
  /** JSON Schema (2020-12) of a value. */
  readonly schema: JsonObject;
  /** The end of a sentence. */
  readonly rule: string;
  /** Null where the value is none of the type. */
  readonly textOf: (value: JsonValue) => string | null;
}

const NUMERIC = /^-?[0-9]{1,128}(?:\.[0-9]{1,128})?$/;
const BIGINT = /^-?[0-9]{1,19}$/;
const BIGINT_MAX = 2n ** 63n - 1n;
/** PostgreSQL keeps microseconds; more would be rounded. */
const TIMESTAMP = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;
const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;
const UUID = /^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$/;

const textThat =
  (isValid: (text: string) => boolean) =>
  (value: JsonValue): string | null =>
    typeof value === 'string' && isValid(value) ? value : null;
const matching = (pattern: RegExp): JsonObject => ({ type: 'string', pattern: pattern.source });

const TYPES: Readonly<Record<ArgumentType, TypeRule>> = {
  string: { schema: { type: 'string' }, rule: 'a string', textOf: textThat(() => true) },
  integer: {
    schema: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    rule: 'an integer',
    textOf: (value) => (Number.isSafeInteger(value) ? canonicalize(value) : null),
  },
  number: {
    schema: { type: 'number' },
    rule: 'a number',
    textOf: (value) => (typeof value === 'number' ? canonicalize(value) : null),
  },
  boolean: {
    schema: { type: 'boolean' },
    rule: 'true or false',
    textOf: (value) => (typeof value === 'boolean' ? String(value) : null),
  },
  numeric: {
    schema: matching(NUMERIC),
    rule: 'a decimal number as a string, such as "19.90"',
    textOf: textThat((text) => NUMERIC.test(text)),
  },
  bigint: {
    schema: matching(BIGINT),
    rule: 'an integer of 64 bits as a string of digits',
    textOf: textThat((text) => BIGINT.test(text) && BigInt(text) <= BIGINT_MAX && BigInt(text) >= -BIGINT_MAX - 1n),
  },
  timestamp: {
    schema: { ...matching(TIMESTAMP), format: 'date-time' },
    rule: 'a date and time with its offset, such as "2026-01-31T08:00:00Z", of at most six digits after the second',
    textOf: textThat((text) => TIMESTAMP.test(text) && parseTimestamp(text) !== null),
  },
  date: {
    schema: { ...matching(DATE), format: 'date' },
    rule: 'a date, such as "2026-01-31"',
    textOf: textThat((text) => DATE.test(text) && parseTimestamp(`${text}T00:00:00Z`) !== null),
  },
  uuid: {
    schema: { ...matching(UUID), format: 'uuid' },
    rule: 'a UUID',
    textOf: textThat((text) => UUID.test(text)),
  },
  json: {
    schema: { type: ['object', 'array', 'string', 'number', 'boolean'] },
    rule: 'a JSON value other than null',
    textOf: (value) => (value === null ? null : canonicalize(value)),
  },
};

/** JSON Schema of one argument of a named tool. */
export const schemaOfArgument = ({ type, description, required }: DatabaseArgument): JsonObject => {
  const { schema } = TYPES[type];
  const withNull = required ? schema : { ...schema, type: [schema['type'] as JsonValue, 'null'].flat() };
  return description === undefined ? withNull : { ...withNull, description };
};

/** The first fault in the order of the tool's arguments, those that it does not have last. */
export const parametersOf = ({ args: declared }: Pick<DatabaseTool, 'args'>, args: JsonObject): BoundParameters => {
  const params: (string | null)[] = [];
  for (const argument of declared) {
    const param = `args.${argument.name}`;
    const value = Object.hasOwn(args, argument.name) ? args[argument.name] : undefined;
    if (value === undefined && argument.required) return refused(param, 'is required');
    if ((value ?? null) === null && !argument.required) {
      params.push(null);
      continue;
    }
    const { rule, textOf } = TYPES[argument.type];
    const text = textOf(value as JsonValue);
    if (text === null) return refused(param, `must be ${rule}${argument.required ? '' : ', or null'}`);
    if (text.includes(NUL)) return refused(param, NUL_RULE);
    params.push(text);
  }
  const names = declared.map(({ name }) => name);
  const unknown = Object.keys(args).find((name) => !names.includes(name));
  return unknown === undefined ? { ok: true, params } : unknownArgument(unknown, names);
};

/**
 * What a call of a tool sends.
 * @param tool a tool of the connector; of one that there is not, null comes back
 */
export const boundStatementOf = (
  { tools }: Pick<DatabaseConfig, 'tools'>,
  tool: string,
  args: JsonObject,
): BoundStatement | null => {
  if (OWN_TOOLS.some((own) => own === tool)) return freeStatementOf(args);
  const named = tools.find(({ name }) => name === tool);
  if (named === undefined) return null;
  const bound = parametersOf(named, args);
  return bound.ok ? { ok: true, sql: named.sql, params: bound.params } : bound;
};

const FREE_ARGUMENTS = ['sql', 'params'];

/** JSON Schema of the arguments of `query` and `execute`. */
export const FREE_STATEMENT_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    sql: {
      type: 'string',
      minLength: 1,
      maxLength: DATABASE_LIMITS.statementBytes,
      description: 'One statement of SQL (PostgreSQL). Write values as $1, $2 and so on, and give them in params.',
    },
    params: {
      type: 'array',
      maxItems: DATABASE_LIMITS.params,
      items: { type: ['string', 'number', 'boolean', 'null', 'object', 'array'] },
      description:
        'The value of $1, then of $2, and so on. Write numbers of more than 15 digits as strings. Objects and lists are sent as JSON.',
    },
  },
  required: ['sql'],
  additionalProperties: false,
};

/** The statement of a call of `query` or `execute`. */
const freeStatementOf = (args: JsonObject): BoundStatement => {
  const { sql } = args;
  if (sql === undefined) return refused('args.sql', 'is required');
  if (typeof sql !== 'string') return refused('args.sql', 'must be a string');
  const fault = statementTextFault(sql);
  if (fault !== null) return refused('args.sql', fault);
  const { params = [] } = args;
  if (!Array.isArray(params)) return refused('args.params', 'must be a list');
  if (params.length > DATABASE_LIMITS.params)
    return refused('args.params', `must have at most ${DATABASE_LIMITS.params} entries, not ${params.length}`);
  const texts = params.map(textOfParameter);
  const broken = texts.findIndex((text) => text?.includes(NUL));
  if (broken !== -1) return refused(`args.params[${broken}]`, NUL_RULE);
  const unknown = Object.keys(args).find((name) => !FREE_ARGUMENTS.includes(name));
  return unknown === undefined ? { ok: true, sql, params: texts } : unknownArgument(unknown, FREE_ARGUMENTS);
};

const textOfParameter = (value: JsonValue): string | null => {
  if (value === null || typeof value === 'string') return value;
  return canonicalize(value);
};

/** PostgreSQL has no text that holds it. In JSON text it is an escape, which the types json and jsonb judge. */
const NUL = '\u0000';
const NUL_RULE = 'must not hold the character U+0000, which PostgreSQL cannot store';

const unknownArgument = (name: string, names: readonly string[]): { readonly ok: false; fault: ArgumentFault } =>
  refused(`args.${name}`, `is no argument of the tool. Its arguments are ${names.join(', ') || 'none'}`);

const refused = (param: string, rule: string): { readonly ok: false; readonly fault: ArgumentFault } => ({
  ok: false,
  fault: { param, message: `${param} ${rule}.` },
});
