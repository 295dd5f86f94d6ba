import pg from 'pg';

/** A name as a part of SQL, whatever is in it. */
export const identifier = (name: string): string => pg.escapeIdentifier(name);

/** A text as a part of SQL, whatever is in it. */
export const literal = (text: string): string => pg.escapeLiteral(text);
