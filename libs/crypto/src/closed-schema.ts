import { type Digest, isDigest } from './digest.js';
import { isId } from './ids.js';
import type { JsonObject, JsonValue } from './strict-json.js';

/** A value that a closed schema refuses. `path` is dotted from the root (`action.tool`), empty for the root itself. */
export class SchemaError extends Error {
  override readonly name = 'SchemaError';

  constructor(
    readonly path: string,
    readonly problem: 'unknown' | 'missing' | 'value',
  ) {
    super(`schema: ${problem} at ${path === '' ? 'the root' : path}`);
  }
}

/** Returns the value it was given under its type, or throws `SchemaError`. */
export type Check<Value> = (value: JsonValue, path: string) => Value;

/** The type that a check proves. */
export type Checked<Schema> = Schema extends Check<infer Value> ? Value : never;

/**
 * An object with exactly these members, all of them present. Judged in this order: unknown members (sorted), missing
 * members (in the order of the schema), then each value in the order of the schema.
 */
export const closed = <Members extends Record<string, Check<unknown>>>(
  members: Members,
): Check<{ [Member in keyof Members]: Checked<Members[Member]> }> => {
  const checks = Object.entries(members);
  return (value, path) => {
    if (!isObject(value)) throw new SchemaError(path, 'value');
    const present = Object.keys(value);
    const [unknown] = present.filter((member) => !Object.hasOwn(members, member)).sort();
    if (unknown !== undefined) throw new SchemaError(join(path, unknown), 'unknown');
    if (present.length !== checks.length) {
      const missing = checks.find(([member]) => !Object.hasOwn(value, member))?.[0] ?? '';
      throw new SchemaError(join(path, missing), 'missing');
    }
    for (const [member, check] of checks) check(value[member] as JsonValue, join(path, member));
    return value as { [Member in keyof Members]: Checked<Members[Member]> };
  };
};

/** The value, or null. */
export const nullable =
  <Value>(check: Check<Value>): Check<Value | null> =>
  (value, path) =>
    value === null ? null : check(value, path);

/** At most `maxItems` values of one kind. */
export const list =
  <Value>(check: Check<Value>, maxItems: number): Check<Value[]> =>
  (value, path) => {
    if (!Array.isArray(value) || value.length > maxItems) throw new SchemaError(path, 'value');
    return value.map((item, index) => check(item, join(path, String(index))));
  };

/** One of these strings. */
export const oneOf =
  <Word extends string>(...words: readonly Word[]): Check<Word> =>
  (value, path) =>
    accept(words.includes(value as Word), value as Word, path);

/** A text of at most `maxBytes` bytes of UTF-8; it may be empty. */
export const text =
  (maxBytes: number): Check<string> =>
  (value, path) =>
    accept(typeof value === 'string' && Buffer.byteLength(value) <= maxBytes, value as string, path);

/** A text of a pattern, which must be anchored at both ends. */
export const matching =
  (pattern: RegExp): Check<string> =>
  (value, path) =>
    accept(typeof value === 'string' && pattern.test(value), value as string, path);

/** An id with this prefix. */
export const idOf =
  (prefix: string): Check<string> =>
  (value, path) =>
    accept(typeof value === 'string' && isId(prefix, value), value as string, path);

/** An integer from `minimum` to 2^53-1. */
export const integer =
  (minimum: number): Check<number> =>
  (value, path) =>
    accept(Number.isSafeInteger(value) && (value as number) >= minimum, value as number, path);

export const boolean: Check<boolean> = (value, path) => accept(typeof value === 'boolean', value as boolean, path);

/** `sha256:` and 64 lowercase hex characters. */
export const digest: Check<Digest> = (value, path) => accept(isDigest(value), value as Digest, path);

const TIMESTAMP_PATTERN = /^(?!0000)\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * RFC 3339 in UTC with exactly three digits of milliseconds and an instant that exists (no February 30, no second 60).
 * One spelling and one length for each instant: two timestamps compare as texts.
 */
export const timestamp: Check<string> = (value, path) =>
  accept(typeof value === 'string' && TIMESTAMP_PATTERN.test(value) && isInstant(value), value as string, path);

const isInstant = (spelling: string): boolean => {
  const instant = new Date(spelling);
  return !Number.isNaN(instant.getTime()) && instant.toISOString() === spelling;
};

const accept = <Value>(isAccepted: boolean, value: Value, path: string): Value => {
  if (!isAccepted) throw new SchemaError(path, 'value');
  return value;
};

const isObject = (value: JsonValue): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

const join = (path: string, member: string): string => (path === '' ? member : `${path}.${member}`);
