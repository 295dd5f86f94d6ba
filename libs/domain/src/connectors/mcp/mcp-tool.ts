import { canonicalize, type Digest, digestOf, digestOfJson, type JsonObject, type JsonValue } from '#libs/crypto';

import type { LeftOutTools, LeftOutWhy, ListedTool, ToolHints } from '../discovered-tools.js';
import { mirroredHeadersOf } from './mcp-headers.js';
import type { McpConfig } from './mcp-config.js';

/** What is taken of a server's list (docs/connectors-mcp-http.md, Limits). */
export const LIST_LIMITS = {
  pages: 20,
  tools: 500,
  definitionBytes: 65_536,
  listBytes: 1_048_576,
  depth: 64,
} as const;

/** What MCP allows in the name of a tool, and what the gate can name: `<connector>.<tool>`. */
const TOOL_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** What an agent is shown of a tool, and so what is pinned. */
const DEFINING_MEMBERS = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;

/** A tool of a server's list as it is served. */
export interface DefinedTool extends ListedTool {
  /** The definition in RFC 8785 form, of which `definition` is the digest. */
  readonly body: string;
}

export interface DefinedTools {
  readonly tools: readonly DefinedTool[];
  readonly leftOut: readonly LeftOutTools[];
}

/**
 * The tools of a list that can be served, in its order.
 * @param listed the entries of all its pages, with secrets removed
 */
export const definedTools = (listed: readonly JsonValue[]): DefinedTools => {
  const tools = new Map<string, DefinedTool>();
  const leftOut = new Map<LeftOutWhy, number>();
  const omit = (why: LeftOutWhy): void => void leftOut.set(why, (leftOut.get(why) ?? 0) + 1);
  let freeBytes: number = LIST_LIMITS.listBytes;
  for (const entry of listed) {
    // Once the list is full, whatever else there is costs nothing.
    const tool = tools.size >= LIST_LIMITS.tools || freeBytes < 0 ? 'too_many' : definedTool(entry);
    if (typeof tool === 'string') omit(tool);
    else if (tools.has(tool.name)) omit('repeated');
    else {
      freeBytes -= Buffer.byteLength(tool.body);
      if (freeBytes < 0) omit('too_many');
      else tools.set(tool.name, tool);
    }
  }
  return { tools: [...tools.values()], leftOut: [...leftOut].map(([why, count]) => ({ why, count })) };
};

const definedTool = (entry: JsonValue): DefinedTool | LeftOutWhy => {
  if (!isObject(entry)) return 'form';
  const { name } = entry;
  if (typeof name !== 'string' || !TOOL_NAME.test(name)) return 'name';
  const given = DEFINING_MEMBERS.flatMap((member) => {
    const value = entry[member];
    return value === undefined || value === null ? [] : [[member, value] as const];
  });
  const definition: JsonObject = Object.fromEntries(given);
  if (!isWellFormed(definition)) return 'form';
  if (depthOf(definition) > LIST_LIMITS.depth) return 'too_large';
  if (mirroredHeadersOf(definition['inputSchema'] as JsonObject) === null) return 'header';
  const body = canonicalize(definition);
  if (Buffer.byteLength(body) > LIST_LIMITS.definitionBytes) return 'too_large';
  return {
    name,
    definition: digestOf(body),
    hints: hintsOf(definition['annotations'] as JsonObject | undefined),
    body,
  };
};

const isWellFormed = ({ title, description, inputSchema, outputSchema, annotations }: JsonObject): boolean =>
  isObject(inputSchema) &&
  [title, description].every((text) => text === undefined || typeof text === 'string') &&
  [outputSchema, annotations].every((object) => object === undefined || isObject(object));

/** The server's own word of what a tool does. Where it says nothing, MCP assumes the worst. */
const hintsOf = (annotations: JsonObject | undefined): ToolHints => {
  const hint = (name: string, otherwise: boolean): boolean => {
    const value = annotations?.[name];
    return typeof value === 'boolean' ? value : otherwise;
  };
  return {
    read_only: hint('readOnlyHint', false),
    destructive: hint('destructiveHint', true),
    idempotent: hint('idempotentHint', false),
    open_world: hint('openWorldHint', true),
  };
};

/** The digest of a list: a server that only names its tools in another order has changed nothing. */
export const listDigestOf = (protocol: string, tools: readonly ListedTool[]): Digest => {
  const named = tools.map(({ name, definition }) => ({ name, definition }));
  return digestOfJson({ protocol, tools: named.sort((one, other) => (one.name < other.name ? -1 : 1)) });
};

/** What a call sends, where to, and how the credential travels: what the policy judged, and a deed names. */
export const mcpToolDigest = ({ auth, url }: McpConfig, definition: Digest): Digest =>
  digestOfJson({ auth: { ...auth }, url, definition });

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value);

/** Containers inside each other, the outermost counts as 1. What is measured was parsed with a bound. */
const depthOf = (value: JsonValue): number => {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Object.values(value).reduce<number>((deepest, member) => Math.max(deepest, depthOf(member)), 0);
};
