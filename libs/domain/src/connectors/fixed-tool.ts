import type { JsonObject, JsonValue } from '#libs/crypto';

import type { MoneyMarks } from '../kernel/index.js';
import { characterCount, isObject } from './config-reader.js';
import type { ArgumentFault, SideEffect } from './connector-driver.port.js';

interface OfEveryArgument {
  readonly description: string;
  readonly required?: true;
}

/** An argument of a tool that a type names itself, and not each config. */
export type FixedArgument = OfEveryArgument &
  (
    | {
        readonly type: 'text';
        readonly maxCharacters: number;
        /** Of the whole text; `rule` says it, as the end of a sentence. */
        readonly pattern?: { readonly of: RegExp; readonly rule: string };
        readonly enum?: readonly string[];
      }
    | { readonly type: 'integer'; readonly min: number; readonly max: number }
    | { readonly type: 'flag' }
    /** An object whose members are texts. */
    | {
        readonly type: 'texts';
        readonly members: { readonly min: number; readonly max: number };
        readonly keyCharacters: number;
        readonly maxCharacters: number;
      }
  );

/** A tool that every connector of a type has. */
export interface FixedTool {
  readonly name: string;
  /** Goes on after `wants to`. */
  readonly title: string;
  readonly description: string;
  readonly sideEffect: SideEffect;
  readonly args: Readonly<Record<string, FixedArgument>>;
  /** Arguments of which a call has exactly one. */
  readonly oneOf?: readonly string[];
  /** Arguments of which a call has one at most. */
  readonly atMostOneOf?: readonly string[];
  readonly money?: MoneyMarks;
}

/** JSON Schema (2020-12) of its arguments. Nothing beyond it is accepted. */
export const inputSchemaOfFixed = ({ args, oneOf }: FixedTool): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(Object.entries(args).map(([name, arg]) => [name, schemaOf(arg)])),
  required: Object.entries(args)
    .filter(([, { required }]) => required === true)
    .map(([name]) => name),
  additionalProperties: false,
  ...(oneOf === undefined ? {} : { oneOf: oneOf.map((name) => ({ required: [name] })) }),
});

const schemaOf = (arg: FixedArgument): JsonObject => {
  const { description } = arg;
  switch (arg.type) {
    case 'text':
      return {
        type: 'string',
        description,
        maxLength: arg.maxCharacters,
        ...(arg.pattern === undefined ? {} : { pattern: arg.pattern.of.source }),
        ...(arg.enum === undefined ? {} : { enum: [...arg.enum] }),
      };
    case 'integer':
      return { type: 'integer', description, minimum: arg.min, maximum: arg.max };
    case 'flag':
      return { type: 'boolean', description };
    case 'texts':
      return {
        type: 'object',
        description,
        minProperties: arg.members.min,
        maxProperties: arg.members.max,
        additionalProperties: { type: 'string', maxLength: arg.maxCharacters },
      };
  }
};

/** The first fault in the order of the tool's arguments, unknown ones last; null when the schema accepts them. */
export const argumentsFaultOfFixed = (tool: FixedTool, args: JsonObject): ArgumentFault | null => {
  for (const [name, arg] of Object.entries(tool.args)) {
    const param = `args.${name}`;
    if (!Object.hasOwn(args, name)) {
      if (arg.required === true) return { param, message: `${param} is required.` };
      continue;
    }
    const fault = valueFault(arg, args[name] as JsonValue);
    if (fault !== null) return { param, message: `${param} ${fault}.` };
  }
  const unknown = Object.keys(args).find((name) => !Object.hasOwn(tool.args, name));
  if (unknown !== undefined) {
    const param = `args.${unknown}`;
    const known = Object.keys(tool.args).join(', ');
    return { param, message: `${param} is no argument of the tool. Its arguments are ${known}.` };
  }
  return choiceFault(tool, args);
};

const choiceFault = ({ oneOf, atMostOneOf }: FixedTool, args: JsonObject): ArgumentFault | null => {
  const given = (names: readonly string[]): number => names.filter((name) => Object.hasOwn(args, name)).length;
  if (oneOf !== undefined && given(oneOf) !== 1) {
    return { param: 'args', message: `args must have either ${oneOf.join(' or ')}, and one of them alone.` };
  }
  if (atMostOneOf !== undefined && given(atMostOneOf) > 1) {
    return { param: 'args', message: `args must have one of ${atMostOneOf.join(' and ')} at most.` };
  }
  return null;
};

/** How a value breaks its rule, as the end of a sentence; null when it does not. Never holds the value. */
const valueFault = (arg: FixedArgument, value: JsonValue): string | null => {
  switch (arg.type) {
    case 'text':
      return textFault(arg, value);
    case 'integer':
      return typeof value === 'number' && Number.isSafeInteger(value) && value >= arg.min && value <= arg.max
        ? null
        : `must be an integer from ${arg.min} to ${arg.max}`;
    case 'flag':
      return typeof value === 'boolean' ? null : 'must be true or false';
    case 'texts':
      return textsFault(arg, value);
  }
};

const textFault = (arg: Extract<FixedArgument, { type: 'text' }>, value: JsonValue): string | null => {
  if (typeof value !== 'string') return 'must be a string';
  if (characterCount(value) > arg.maxCharacters) return `must have at most ${arg.maxCharacters} characters`;
  if (arg.enum !== undefined && !arg.enum.includes(value)) return `must be one of ${arg.enum.join(', ')}`;
  return arg.pattern === undefined || arg.pattern.of.test(value) ? null : `must be ${arg.pattern.rule}`;
};

/** An argument that was judged, as it stands in a path, a query or a form: a text, an integer or a flag. */
export const argumentText = (args: JsonObject, name: string): string => {
  const value = args[name] ?? '';
  return typeof value === 'string' ? value : JSON.stringify(value);
};

const textsFault = (arg: Extract<FixedArgument, { type: 'texts' }>, value: JsonValue): string | null => {
  const { members, keyCharacters, maxCharacters } = arg;
  if (!isObject(value)) return 'must be an object';
  const entries = Object.entries(value);
  if (entries.length < members.min || entries.length > members.max) {
    return `must have ${members.min} to ${members.max} members`;
  }
  if (entries.some(([key]) => key === '' || characterCount(key) > keyCharacters)) {
    return `must have members whose names have 1 to ${keyCharacters} characters`;
  }
  const isFitting = (text: JsonValue | undefined): boolean =>
    typeof text === 'string' && characterCount(text) <= maxCharacters;
  return entries.every(([, text]) => isFitting(text))
    ? null
    : `must have members that are strings of at most ${maxCharacters} characters`;
};
