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
 * What stands in canonical order already, as our own documents do, is left to JSON.stringify, by which RFC 8785 defines
 * numbers and strings. The writer of all else is ours and not that of the json-canonicalize package, because that one
 * (3.0.1) hands an object with a member named `toJSON` to JSON.stringify unsorted, reports a value that stands twice in a tree as circular when one
 * path is the beginning of the other (`$.a`, `$.ab`), and escapes lone surrogates instead of refusing them. The tests
 * compare the two. Every deed body has a second writer as well, which must agree before it is sealed (deed-body.ts).
 *
 * Nesting is limited by the caller's parser; the recursion here is safe for the depths that our profiles admit.
 */
export const canonicalize = (value: JsonValue): string =>
  isInOrder(value) ? JSON.stringify(value) : canonicalizeByHand(value);

/** As `canonicalize`, and never with the help of the runtime's own writer: for whoever compares the two. */
export const canonicalizeByHand = (value: JsonValue): string => write(value, ['$']);

/** The UTF-8 bytes of `canonicalize(value)`: what is hashed, signed and stored. */
export const canonicalBytes = (value: JsonValue): Uint8Array => ENCODER.encode(canonicalize(value));

const ENCODER = new TextEncoder();

/**
 * Whether JSON.stringify writes the canonical form of this value: its members are in order, it holds nothing that has no
 * canonical form, and nothing that would write itself (`toJSON`).
 */
const isInOrder = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'boolean' || value === null) return true;
  if (Array.isArray(value)) return areInOrder(value);
  return isPlainObject(value) && areMembersInOrder(value);
};

const areInOrder = (items: readonly unknown[]): boolean => {
  if ('toJSON' in items) return false;
  // By index: a hole is no value.
  for (let index = 0; index < items.length; index += 1) if (!isInOrder(items[index])) return false;
  return true;
};

const areMembersInOrder = (object: JsonObject): boolean => {
  let previous: string | null = null;
  // In the order in which JSON.stringify takes them; a plain object inherits none.
  for (const member in object) {
    if (previous !== null && previous > member) return false;
    if (!member.isWellFormed() || !isInOrder(object[member])) return false;
    previous = member;
  }
  return true;
};

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
  if (!text.isWellFormed()) throw refusal('lone_surrogate', path);
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
  for (const member of sortedMembers(object)) {
    text += (text.length === 1 ? '' : ',') + writeString(member, path) + ':';
    path.push(member);
    text += write(object[member], path);
    path.pop();
  }
  return text + '}';
};

/** By UTF-16 code units (RFC 8785 section 3.2.3), which is how texts compare and the default order of sort. */
const sortedMembers = (object: JsonObject): readonly string[] => {
  const members = Object.keys(object);
  for (let index = 1; index < members.length; index += 1) {
    if ((members[index - 1] as string) > (members[index] as string)) return members.sort();
  }
  return members;
};

const refusal = (reason: CanonicalizationError['reason'], path: readonly string[]): CanonicalizationError =>
  new CanonicalizationError(reason, path.join('.'));

/** Class instances (Date, Map, Buffer) would lose what they mean when read member by member. */
const isPlainObject = (value: unknown): value is JsonObject => {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
};
