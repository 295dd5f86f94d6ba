import { type Digest, DIGEST_PATTERN, isDigest } from './digest.js';
import { ID_PATTERN, isId } from './ids.js';
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
 *
 * `canonical` is the source of a regular expression. A text without lone surrogates that it matches is the RFC 8785 form of a
 * value that the check accepts. The other way round it does not hold: rare values, such as an integer of 16 digits, are left
 * out. It can match a text in one way only, so that it also fails in time proportional to the text.
 */
export interface Check<Value> {
  (value: JsonValue): Value;
  readonly canonical: string;
}

const checkOf = <Value>(canonical: string, check: (value: JsonValue) => Value): Check<Value> =>
  Object.assign(check, { canonical });

/** The type that a check proves. */
export type Checked<Schema> = Schema extends Check<infer Value> ? Value : never;

/**
 * An object with exactly these members, all of them present. Judged in this order: unknown members (sorted), missing
 * members (in the order of the schema), then each value in the order of the schema. Names are words of ASCII letters,
 * digits and `_`.
 */
export const closed = <Members extends Record<string, Check<unknown>>>(
  members: Members,
): Check<{ [Member in keyof Members]: Checked<Members[Member]> }> => {
  const names = Object.keys(members);
  const checks = Object.entries(members).map(([name, check]) => ({ name, check }));
  // The default order of sort is by UTF-16 code units, which is the order of RFC 8785 section 3.2.3.
  const spelled = [...names].sort().map((name) => `"${name}":${members[name]?.canonical ?? ''}`);
  return checkOf(`\\{${spelled.join(',')}\\}`, (value) => {
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
  });
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
export const nullable = <Value>(check: Check<Value>): Check<Value | null> =>
  checkOf(`(?:null|${check.canonical})`, (value) => (value === null ? null : check(value)));

/** At most `maxItems` values of one kind; `maxItems` is 1 or more. */
export const list = <Value>(check: Check<Value>, maxItems: number): Check<Value[]> =>
  checkOf(`\\[(?:${check.canonical}(?:,${check.canonical}){0,${maxItems - 1}})?\\]`, (value) => {
    if (!Array.isArray(value) || value.length > maxItems) throw new SchemaError('value');
    const items: Value[] = [];
    try {
      for (const item of value) items.push(check(item));
    } catch (error) {
      throw below(String(items.length), error);
    }
    return items;
  });

/** One of these strings: words of ASCII letters, digits, `_`, `.` and `/`. */
export const oneOf = <Word extends string>(...words: readonly Word[]): Check<Word> =>
  checkOf(`"(?:${words.join('|').replaceAll('.', '\\.')})"`, (value) =>
    accept(words.includes(value as Word), value as Word),
  );

// As RFC 8785 section 3.2.2.2 writes it: itself, or the one escape that it has.
const CHARACTER = '(?:[^"\\\\\\0-\\x1f]|\\\\(?:["\\\\bfnrt]|u00(?:0[0-7bef]|1[0-9a-f])))';
/** Of UTF-8, for what `CHARACTER` matches: an escape, or a unit of UTF-16. */
const MAX_CHARACTER_BYTES = 3;

/** A text of at most `maxBytes` bytes of UTF-8; it may be empty. */
export const text = (maxBytes: number): Check<string> =>
  checkOf(`"${CHARACTER}{0,${Math.floor(maxBytes / MAX_CHARACTER_BYTES)}}"`, (value) =>
    accept(typeof value === 'string' && Buffer.byteLength(value) <= maxBytes, value as string),
  );

/** A text of a pattern, which must be anchored at both ends, unambiguous, and match nothing that JSON escapes. */
export const matching = (pattern: RegExp): Check<string> =>
  checkOf(`"(?:${unanchored(pattern)})"`, (value) =>
    accept(typeof value === 'string' && pattern.test(value), value as string),
  );

const unanchored = ({ source }: RegExp): string => source.slice(1, -1);

/** An id with this prefix. */
export const idOf = (prefix: string): Check<string> =>
  checkOf(`"${prefix}_${unanchored(ID_PATTERN)}"`, (value) =>
    accept(typeof value === 'string' && isId(prefix, value), value as string),
  );

/** An integer from `minimum` to 2^53-1. */
export const integer = (minimum: 0 | 1): Check<number> =>
  // 15 digits are always below 2^53.
  checkOf(minimum === 0 ? '(?:0|[1-9]\\d{0,14})' : '[1-9]\\d{0,14}', (value) =>
    accept(Number.isSafeInteger(value) && (value as number) >= minimum, value as number),
  );

export const boolean: Check<boolean> = checkOf('(?:true|false)', (value) =>
  accept(typeof value === 'boolean', value as boolean),
);

/** `sha256:` and 64 lowercase hex characters. */
export const digest: Check<Digest> = checkOf(`"${unanchored(DIGEST_PATTERN)}"`, (value) =>
  accept(isDigest(value), value as Digest),
);

// Every day of every year but February 29, for which the calendar is asked.
const YEAR = '(?!0000)\\d{4}';
const DAY = '(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)';
const TIME = 'T(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d\\.\\d{3}Z';
const TIMESTAMP_PATTERN = new RegExp(`^${YEAR}-${DAY}${TIME}$`);
const LEAP_DAY_PATTERN = new RegExp(`^${YEAR}-02-29${TIME}$`);

/**
 * RFC 3339 in UTC with exactly three digits of milliseconds and an instant that exists (no February 30, no second 60).
 * One spelling and one length for each instant: two timestamps compare as texts.
 */
export const timestamp: Check<string> = checkOf(`"${unanchored(TIMESTAMP_PATTERN)}"`, (value) =>
  accept(typeof value === 'string' && (TIMESTAMP_PATTERN.test(value) || isLeapDay(value)), value as string),
);

const isLeapDay = (spelling: string): boolean => {
  if (!LEAP_DAY_PATTERN.test(spelling)) return false;
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
