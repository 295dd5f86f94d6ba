import { type Digest, isDigest } from './digest.js';
import { isId } from './ids.js';
import type { JsonObject, JsonValue } from './strict-json.js';

/** A value that a closed schema refuses. `path` is dotted from the root (`action.tool`), empty for the root itself. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  constructor(
    readonly problem: 'unknown' | 'missing' | 'value',
    readonly path = '',
  ) {
    super(`schema: ${problem} at ${path === '' ? 'the root' : path}`);
  }

  /** The same fault as the container of the value sees it. */
  below(member: string): SchemaError {
    return new SchemaError(this.problem, this.path === '' ? member : `${member}.${this.path}`);
  }
}

/**
 * Returns the value it was given under its type, or throws `SchemaError`. A fault learns its path on the way out,
 * container by container: a value that passes, as nearly every one does, costs no texts.
 */
export type Check<Value> = (value: JsonValue) => Value;

/** The type that a check proves. */
export type Checked<Schema> = Schema extends Check<infer Value> ? Value : never;

/**
 * An object with exactly these members, all of them present. Judged in this order: unknown members (sorted), missing
 * members (in the order of the schema), then each value in the order of the schema.
 */
export const closed = <Members extends Record<string, Check<unknown>>>(
  members: Members,
): Check<{ [Member in keyof Members]: Checked<Members[Member]> }> => {
  const names = Object.keys(members);
  const checks = Object.entries(members).map(([name, check]) => ({ name, check }));
  return (value) => {
    if (!isObject(value)) throw new SchemaError('value');
    const hasAll = names.every((name) => Object.hasOwn(value, name));
    if (!hasAll || Object.keys(value).length !== names.length) throw membersFault(value, names);
    let current = '';
    try {
      for (const { name, check } of checks) {
        current = name;
        check(value[name] as JsonValue);
      }
    } catch (error) {
      throw below(current, error);
    }
    return value as { [Member in keyof Members]: Checked<Members[Member]> };
  };
};

const membersFault = (value: JsonObject, names: readonly string[]): SchemaError => {
  const [unknown] = Object.keys(value)
    .filter((name) => !names.includes(name))
    .sort();
  if (unknown !== undefined) return new SchemaError('unknown', unknown);
  return new SchemaError(
    'missing',
    names.find((name) => !Object.hasOwn(value, name)),
  );
};

/** The value, or null. */
export const nullable =
  <Value>(check: Check<Value>): Check<Value | null> =>
  (value) =>
    value === null ? null : check(value);

/** At most `maxItems` values of one kind. */
export const list =
  <Value>(check: Check<Value>, maxItems: number): Check<Value[]> =>
  (value) => {
    if (!Array.isArray(value) || value.length > maxItems) throw new SchemaError('value');
    const items: Value[] = [];
    try {
      for (const item of value) items.push(check(item));
    } catch (error) {
      throw below(String(items.length), error);
    }
    return items;
  };

/** One of these strings. */
export const oneOf =
  <Word extends string>(...words: readonly Word[]): Check<Word> =>
  (value) =>
    accept(words.includes(value as Word), value as Word);

/** A text of at most `maxBytes` bytes of UTF-8; it may be empty. */
export const text =
  (maxBytes: number): Check<string> =>
  (value) =>
    accept(typeof value === 'string' && Buffer.byteLength(value) <= maxBytes, value as string);

/** A text of a pattern, which must be anchored at both ends. */
export const matching =
  (pattern: RegExp): Check<string> =>
  (value) =>
    accept(typeof value === 'string' && pattern.test(value), value as string);

/** An id with this prefix. */
export const idOf =
  (prefix: string): Check<string> =>
  (value) =>
    accept(typeof value === 'string' && isId(prefix, value), value as string);

/** An integer from `minimum` to 2^53-1. */
export const integer =
  (minimum: number): Check<number> =>
  (value) =>
    accept(Number.isSafeInteger(value) && (value as number) >= minimum, value as number);

export const boolean: Check<boolean> = (value) => accept(typeof value === 'boolean', value as boolean);

/** `sha256:` and 64 lowercase hex characters. */
export const digest: Check<Digest> = (value) => accept(isDigest(value), value as Digest);

const TIMESTAMP_PATTERN =
  /^(?!0000)\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

/**
 * RFC 3339 in UTC with exactly three digits of milliseconds and an instant that exists (no February 30, no second 60).
 * One spelling and one length for each instant: two timestamps compare as texts.
 */
export const timestamp: Check<string> = (value) =>
  accept(typeof value === 'string' && TIMESTAMP_PATTERN.test(value) && isInstant(value), value as string);

/** The pattern leaves open whether the month has this day. Each has 28; for the others the calendar is asked. */
const isInstant = (spelling: string): boolean => {
  if (spelling.slice(8, 10) <= '28') return true;
  const instant = new Date(spelling);
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === spelling;
};

const accept = <Value>(isAccepted: boolean, value: Value): Value => {
  if (!isAccepted) throw new SchemaError('value');
  return value;
};

const below = (member: string, error: unknown): unknown => (error instanceof SchemaError ? error.below(member) : error);

const isObject = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
