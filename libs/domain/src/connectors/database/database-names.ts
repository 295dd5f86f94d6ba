import { DATABASE_LIMITS } from './database-config.js';

/** An identifier as PostgreSQL stores it: without quotes around it, in the case that it has there. */
const IDENTIFIER = /^[\p{L}_][\p{L}\p{N}_$]*$/u;
/** Schemas of PostgreSQL itself. */
const SYSTEM_SCHEMA = /^(?:pg_.*|information_schema)$/i;
/** What reads or writes beside the tables, or outside of the transaction: nothing a config says lets a statement call it. */
const CLOSED_FUNCTION = /^(?:(?:pg|lo|dblink)_.*|dblink|set_config|nextval|setval)$/i;

const isIdentifier = (text: string): boolean =>
  IDENTIFIER.test(text) && Buffer.byteLength(text) <= DATABASE_LIMITS.nameBytes;

/** What a schema's name breaks, as the end of a sentence; null for one that can be used. */
export const schemaFault = (name: string): string | null => {
  if (!isIdentifier(name)) return `must be ${AN_IDENTIFIER}.`;
  return SYSTEM_SCHEMA.test(name) ? 'must not be a schema of PostgreSQL itself: pg_… or information_schema.' : null;
};

/** As {@link schemaFault}, of `schema.table`. */
export const tableFault = (text: string): string | null => {
  const [schema = '', table = '', ...more] = text.split('.');
  if (more.length > 0 || !isIdentifier(schema) || !isIdentifier(table))
    return `must be a table with its schema, such as public.orders: each ${AN_IDENTIFIER}.`;
  return schemaFault(schema);
};

/** As {@link schemaFault}, of `function` or `schema.function`. */
export const functionFault = (text: string): string | null => {
  const parts = text.split('.');
  if (parts.length > 2 || !parts.every(isIdentifier))
    return `must be the name of a function, with its schema where it is not in pg_catalog: each ${AN_IDENTIFIER}.`;
  const name = parts.at(-1) ?? '';
  return CLOSED_FUNCTION.test(name) ? 'is a function that no statement may call, whatever the config says.' : null;
};

const AN_IDENTIFIER = `1 to ${DATABASE_LIMITS.nameBytes} bytes of letters, digits, _ and $, no digit or $ first, in the case in which the database stores it`;
