import type { JsonValue } from '#libs/crypto';

/** The service itself puts arguments into headers for the server; whoever calls through it has nothing to do with that. */
export const withoutMarks = (schema: JsonValue): JsonValue => {
  if (schema === null || typeof schema !== 'object') return schema;
  if (Array.isArray(schema)) return schema.map(withoutMarks);
  const kept = Object.entries(schema).filter(([name, value]) => name !== 'x-mcp-header' || typeof value !== 'string');
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutMarks(value)]));
};
