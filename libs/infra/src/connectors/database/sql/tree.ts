import { refusedPart } from './refused-parts.js';

/** The fields of one node, as the parser wrote them. */
export type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsIn = (value: unknown): Fields => {
  if (isFields(value)) return value;
  throw refusedPart('unknown');
};

export const listIn = (value: unknown): readonly unknown[] => {
  if (value === undefined) return [];
  if (Array.isArray(value)) return value as readonly unknown[];
  throw refusedPart('unknown');
};

export const textIn = (value: unknown): string => {
  if (typeof value === 'string') return value;
  throw refusedPart('unknown');
};

/** A node says its type by the one name that it has. */
export const typeAndFields = (value: unknown): readonly [type: string, fields: Fields] => {
  const [named, ...more] = Object.entries(fieldsIn(value));
  if (named === undefined || more.length > 0) throw refusedPart('unknown');
  return [named[0], fieldsIn(named[1])];
};

/** A name in its parts, such as `pg_catalog` and `lower`. */
export const namesIn = (value: unknown): readonly string[] =>
  listIn(value).map((part) => {
    const [type, fields] = typeAndFields(part);
    if (type !== 'String') throw refusedPart(type);
    // An empty text is left away.
    return fields['sval'] === undefined ? '' : textIn(fields['sval']);
  });
