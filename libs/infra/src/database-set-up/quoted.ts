import pg from 'pg';

/** PostgreSQL cuts a longer name off, so two of them could become one. */
const NAME_MAX_BYTES = 63;

/** Its names hold no U+0000 and end at 63 bytes. */
const isDatabaseName = (text: string): boolean =>
  text !== '' && !text.includes('\0') && Buffer.byteLength(text) <= NAME_MAX_BYTES;

/**
 * A name in SQL, whatever it holds. Every name that set-up and readiness write into SQL goes through here.
 * @throws {RangeError} for what can be no name
 */
export const quotedName = (name: string): string => {
  if (!isDatabaseName(name)) throw new RangeError('A name of a database has 1 to 63 bytes and no U+0000.');
  return pg.escapeIdentifier(name);
};

export interface TableName {
  readonly schema: string;
  readonly name: string;
}

export const quotedTable = ({ schema, name }: TableName): string => `${quotedName(schema)}.${quotedName(name)}`;

/** A text in SQL, which means the same whatever `standard_conforming_strings` says. */
export const quotedText = (text: string): string => {
  if (text.includes('\0')) throw new RangeError('A text of a database holds no U+0000.');
  return pg.escapeLiteral(text).trimStart();
};

/** The body of a DO between tags that do not occur in it: a name cannot end it. */
export const doBlock = (body: string): string => {
  let tag = '$ags$';
  for (let count = 1; body.includes(tag); count += 1) tag = `$ags${count}$`;
  return `DO ${tag}\n${body}\n${tag};`;
};
