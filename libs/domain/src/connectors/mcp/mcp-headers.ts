import type { JsonObject, JsonValue } from '#libs/crypto';

/** An argument that the server wants to see in a header, too (`x-mcp-header`). */
export interface MirroredHeader {
  /** The whole name: `Mcp-Param-Region`. */
  readonly header: string;
  /** The members that lead to the argument. */
  readonly path: readonly string[];
}

const ANNOTATION = 'x-mcp-header';
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const MIRRORED_TYPES: readonly JsonValue[] = ['string', 'integer', 'boolean'];
/** Visible ASCII with inner spaces. */
const PLAIN_VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const ENCODED = /^=\?base64\?.*\?=$/s;

/**
 * The annotated arguments of a tool. Null for a schema that annotates against the rules of MCP (2026-07-28, Custom Headers
 * from Tool Parameters): such a tool must not be served, because what its server reads from a header is unclear.
 */
export const mirroredHeadersOf = (inputSchema: JsonObject): readonly MirroredHeader[] | null => {
  const found: MirroredHeader[] = [];
  if (!collect(inputSchema, [], found)) return null;
  const isUnique = new Set(found.map(({ header }) => header.toLowerCase())).size === found.length;
  // Annotations that no chain of `properties` reaches stand where no argument can be told.
  return isUnique && countOf(inputSchema) === found.length ? found : null;
};

const collect = (schema: JsonObject, path: readonly string[], found: MirroredHeader[]): boolean => {
  const { properties } = schema;
  if (!isObject(properties)) return true;
  for (const [name, property] of Object.entries(properties)) {
    if (!isObject(property)) continue;
    const at = [...path, name];
    const annotation = property[ANNOTATION];
    if (annotation !== undefined) {
      if (typeof annotation !== 'string' || !TOKEN.test(annotation)) return false;
      if (!MIRRORED_TYPES.includes(property['type'] ?? null)) return false;
      found.push({ header: `Mcp-Param-${annotation}`, path: at });
    }
    if (!collect(property, at, found)) return false;
  }
  return true;
};

/** Wherever they stand; a property that has the annotation's own name is no annotation. */
const countOf = (value: JsonValue, areNames = false): number => {
  if (value === null || typeof value !== 'object') return 0;
  if (Array.isArray(value)) return value.reduce<number>((count, entry) => count + countOf(entry), 0);
  return Object.entries(value).reduce(
    (count, [name, member]) =>
      count + (name === ANNOTATION && !areNames ? 1 : countOf(member, name === 'properties' && !areNames)),
    0,
  );
};

/** The headers of a call: each annotated argument that the call has and that is no null. */
export const mirroredValues = (
  headers: readonly MirroredHeader[],
  args: JsonObject,
): readonly (readonly [name: string, value: string])[] =>
  headers.flatMap(({ header, path }) => {
    const value = valueAt(args, path);
    const isMirrored = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
    return isMirrored ? [[header, headerValueOf(String(value))] as const] : [];
  });

const valueAt = (args: JsonObject, path: readonly string[]): JsonValue | undefined =>
  path.reduce<JsonValue | undefined>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    args,
  );

/** As it is where a header can carry it, else in Base64 between the marks that MCP gives (Value Encoding). */
export const headerValueOf = (text: string): string =>
  PLAIN_VALUE.test(text) && !ENCODED.test(text) ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`;

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);
