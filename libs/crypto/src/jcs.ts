import type { JsonObject, JsonValue } from './strict-json.js';

/** A value that RFC 8785 cannot write. `path` is a hint for a log: the members that lead to it. */
export class CanonicalizationError extends Error {
  override readonly name = 'CanonicalizationError';

  constructor(
    readonly reason: 'lone_surrogate' | 'not_json' | 'not_finite',
    readonly path: string,
  ) {
    super(`value has no canonical form: ${reason} at ${path}`);
  }
}

/**
 * The canonical text of a JSON value (RFC 8785): no space, members sorted by UTF-16 code units, numbers and strings as
 * ECMAScript writes them. Throws `CanonicalizationError` for what JSON cannot say (undefined, functions, bigint, NaN,
 * class instances, array holes) and for lone surrogates, which RFC 8785 section 3.2.2.2 forbids.
 *
 * The writer is ours and not that of the json-canonicalize package, because that one (3.0.1) hands an object with a
 * member named `toJSON` to JSON.stringify unsorted, reports a value that stands twice in a tree as circular when one
 * path is the beginning of the other (`$.a`, `$.ab`), and escapes lone surrogates instead of refusing them. The tests
 * compare the two. Every deed body has a second writer as well, which must agree before it is sealed (deed-body.ts).
 *
 * Nesting is limited by the caller's parser; the recursion here is safe for the depths that our profiles admit.
 */
export const canonicalize = (value: JsonValue): string => write(value, ['$']);

/** The UTF-8 bytes of `canonicalize(value)`: what is hashed, signed and stored. */
export const canonicalBytes = (value: JsonValue): Uint8Array => ENCODER.encode(canonicalize(value));

const ENCODER = new TextEncoder();

// With the u flag only a surrogate that is not half of a pair matches.
const LONE_SURROGATE = /\p{Surrogate}/u;

const write = (value: unknown, path: string[]): string => {
  if (typeof value === 'string') return writeString(value, path);
  if (typeof value === 'number') return writeNumber(value, path);
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (Array.isArray(value)) return writeArray(value, path);
  if (isPlainObject(value)) return writeObject(value, path);
  throw refusal('not_json', path);
};

/** RFC 8785 section 3.2.2.3: ECMAScript's own number text, in which -0 is 0. */
const writeNumber = (value: number, path: string[]): string => {
  if (!Number.isFinite(value)) throw refusal('not_finite', path);
  return String(value);
};

// Printable ASCII without quote and backslash is its own canonical form: nearly every string of a deed.
const NEEDS_NO_ESCAPE = /^[ !#-[\]-~]*$/;

const writeString = (text: string, path: string[]): string => {
  if (NEEDS_NO_ESCAPE.test(text)) return `"${text}"`;
  if (LONE_SURROGATE.test(text)) throw refusal('lone_surrogate', path);
  return JSON.stringify(text);
};

const writeArray = (items: readonly unknown[], path: string[]): string => {
  let text = '[';
  // By index: forEach and map would pass over a hole in silence.
  for (let index = 0; index < items.length; index += 1) {
    text += (index === 0 ? '' : ',') + write(items[index], path);
  }
  return text + ']';
};

const writeObject = (object: JsonObject, path: string[]): string => {
  let text = '{';
  // The default order of sort is by UTF-16 code units, which is the order of RFC 8785 section 3.2.3.
  for (const member of Object.keys(object).sort()) {
    text += (text.length === 1 ? '' : ',') + writeString(member, path) + ':';
    path.push(member);
    text += write(object[member], path);
    path.pop();
  }
  return text + '}';
};

const refusal = (reason: CanonicalizationError['reason'], path: readonly string[]): CanonicalizationError =>
  new CanonicalizationError(reason, path.join('.'));

/** Class instances (Date, Map, Buffer) would lose what they mean when read member by member. */
const isPlainObject = (value: unknown): value is JsonObject => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};
