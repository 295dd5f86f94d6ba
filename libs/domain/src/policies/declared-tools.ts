import type { JsonObject, JsonValue } from '#libs/crypto';
import type { SideEffect } from '../kernel/index.js';
import { type CelType, BOOL, DYN, type Field, INT, join, listOf, mapOf, NUMBER, STRING } from './cel/types.js';

/** A tool that a connector of the organization has now, as far as a policy can be held against it. */
export interface DeclaredTool {
  /** Qualified, `<connector>.<tool>`. */
  readonly name: string;
  readonly sideEffect: SideEffect;
  /** What calls of it may be besides, by their arguments. */
  readonly callsMayBe?: readonly SideEffect[];
  /** JSON Schema (2020-12) of its arguments. One without `properties` declares none: then nothing is known of them. */
  readonly inputSchema: JsonObject;
  /** Whether its connector says what a call spends. */
  readonly namesCost: boolean;
}

/** An argument, and whether a call may come without it. */
interface DeclaredArgument {
  readonly type: CelType;
  readonly isRequired: boolean;
}

/**
 * The arguments of a call of any of these tools, for the checker; null where one of them declares nothing. One that a
 * call of some of them may lack is optional, and its type is what it can be in any of them.
 */
export const argumentsOf = (tools: readonly DeclaredTool[]): Readonly<Record<string, Field>> | null => {
  const declared = tools.map(({ inputSchema }) => declaredBy(inputSchema));
  if (declared.some((each) => each === null)) return null;
  const each = declared.filter((one) => one !== null);
  const names = new Set(each.flatMap((one) => [...one.keys()]));
  return Object.fromEntries([...names].map((name) => [name, fieldOf(each.map((one) => one.get(name)))]));
};

const fieldOf = (arguments_: readonly (DeclaredArgument | undefined)[]): Field => {
  const known = arguments_.filter((argument) => argument !== undefined);
  const isRequired = known.length === arguments_.length && known.every((argument) => argument.isRequired);
  const type = known.map((argument) => argument.type).reduce(oneOrOther);
  return { type, presence: isRequired ? 'always' : 'optional', meaning: 'an argument of the tool' };
};

/** Of two closed lists, both. */
const oneOrOther = (one: CelType, other: CelType): CelType => {
  if (one.kind === 'string' && other.kind === 'string' && one.oneOf && other.oneOf) {
    return { kind: 'string', oneOf: [...new Set([...one.oneOf, ...other.oneOf])] };
  }
  if (one.kind === 'int' && other.kind === 'int' && one.oneOf && other.oneOf) {
    return { kind: 'int', oneOf: [...new Set([...one.oneOf, ...other.oneOf])] };
  }
  return join(one, other);
};

const declaredBy = ({ properties, required }: JsonObject): ReadonlyMap<string, DeclaredArgument> | null => {
  if (!isObject(properties)) return null;
  const names = new Set(Array.isArray(required) ? required : []);
  const declared = Object.entries(properties).map(
    ([name, schema]) => [name, { type: typeOf(schema), isRequired: names.has(name) }] as const,
  );
  return new Map(declared);
};

/** What a condition finds of a value that the schema takes. Any value where the schema is not one of those that tools have. */
const typeOf = (schema: JsonValue): CelType => {
  if (!isObject(schema)) return DYN;
  switch (schema['type']) {
    case 'string':
      return textOf(schema['enum']);
    case 'integer':
      return integerOf(schema['enum']);
    case 'number':
      return NUMBER;
    case 'boolean':
      return BOOL;
    case 'array':
      return listOf(DYN);
    case 'object':
      return mapOf(DYN);
    default:
      return DYN;
  }
};

const textOf = (values: JsonValue | undefined): CelType => {
  if (!Array.isArray(values)) return STRING;
  const texts = values.filter((value) => typeof value === 'string');
  return texts.length === values.length ? { kind: 'string', oneOf: texts } : STRING;
};

const integerOf = (values: JsonValue | undefined): CelType => {
  if (!Array.isArray(values)) return INT;
  const integers = values.filter((value) => typeof value === 'number').filter((value) => Number.isSafeInteger(value));
  return integers.length === values.length ? { kind: 'int', oneOf: integers.map(BigInt) } : INT;
};

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
