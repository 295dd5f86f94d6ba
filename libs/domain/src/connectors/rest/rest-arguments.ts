import { canonicalize, type JsonObject, type JsonValue } from '#libs/crypto';

import { characterCount, isObject } from '../config-reader.js';
import type { ArgumentFault } from '../connector-driver.port.js';
import type { RestArgument, RestTool } from './rest-config.js';
import { MatchedTexts, mismatch } from './rest-pattern.js';
import { queryListFault } from './rest-query.js';

/** JSON Schema (2020-12) of a tool's arguments. Generated, so it can promise nothing that {@link argumentsFault} does not check. */
export const inputSchemaOf = (tool: RestTool): JsonObject => {
  const entries = Object.entries(tool.args);
  const required = entries.filter(([, arg]) => arg.required).map(([name]) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, arg]) => [name, schemaOf(arg)])),
    required,
    additionalProperties: false,
  };
};

const listSchemaOf = ({ required }: RestArgument): JsonObject => ({
  items: { type: ['string', 'number', 'boolean'] },
  ...(required ? { minItems: 1 } : {}),
});

const schemaOf = (arg: RestArgument): JsonObject => ({
  type: arg.type,
  ...(arg.in === 'query' && arg.type === 'array' ? listSchemaOf(arg) : {}),
  ...(arg.description === undefined ? {} : { description: arg.description }),
  ...(arg.enum === undefined ? {} : { enum: [...arg.enum] }),
  ...(arg.pattern === undefined ? {} : { pattern: arg.pattern }),
  ...(arg.min === undefined ? {} : { minimum: arg.min }),
  ...(arg.max === undefined ? {} : { maximum: arg.max }),
  ...(arg.max_length === undefined ? {} : { maxLength: arg.max_length }),
});

/** The first fault in the order of the tool's arguments, unknown ones last; null when the schema accepts them. */
export const argumentsFault = (tool: RestTool, args: JsonObject): ArgumentFault | null => {
  const matched = new MatchedTexts();
  for (const [name, arg] of Object.entries(tool.args)) {
    const param = `args.${name}`;
    if (!Object.hasOwn(args, name)) {
      if (arg.required) return { param, message: `${param} is required.` };
      continue;
    }
    const value = args[name] as JsonValue;
    const fault = matched.add(arg, value) ?? valueFault(arg, value);
    if (fault !== null) return { param, message: `${param} ${fault}.` };
  }
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(tool.args, name));
  if (unknown === undefined) return null;
  const param = `args.${unknown}`;
  return { param, message: `${param} is no argument of the tool. Its arguments are ${namesOf(tool)}.` };
};

const namesOf = (tool: RestTool): string => Object.keys(tool.args).join(', ') || 'none';

/** How a value breaks its rule, as the end of a sentence; null when it does not. Never holds the value. */
export const valueFault = (arg: RestArgument, value: JsonValue): string | null => {
  if (!isOfType(arg.type, value)) return `must be ${TYPE_NAMES[arg.type]}`;
  if (arg.enum !== undefined && !isListed(arg.enum, value)) {
    return `must be one of ${arg.enum.map((allowed) => JSON.stringify(allowed)).join(', ')}`;
  }
  if (arg.in === 'query' && Array.isArray(value)) return queryListFault(arg, value);
  if (typeof value === 'number') return rangeFault(arg, value);
  if (typeof value === 'string') return textFault(arg, value);
  return null;
};

const isListed = (allowed: readonly JsonValue[], value: JsonValue): boolean => {
  const asked = canonicalize(value);
  return allowed.some((entry) => canonicalize(entry) === asked);
};

const TYPE_NAMES: Readonly<Record<RestArgument['type'], string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
};

export const isOfType = (type: RestArgument['type'], value: JsonValue): boolean => {
  switch (type) {
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value);
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type;
  }
};

const rangeFault = (arg: RestArgument, value: number): string | null => {
  if (arg.min !== undefined && value < arg.min) return `must be at least ${arg.min}`;
  return arg.max !== undefined && value > arg.max ? `must be at most ${arg.max}` : null;
};

const textFault = (arg: RestArgument, value: string): string | null => {
  if (arg.max_length !== undefined && characterCount(value) > arg.max_length) {
    return `must have at most ${arg.max_length} characters`;
  }
  return mismatch(arg, value);
};
