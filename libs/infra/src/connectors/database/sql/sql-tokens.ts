/**
 * A piece of SQL as PostgreSQL's scanner cuts it (scan.l, with standard_conforming_strings on): just enough to count. Only
 * what stands without quotes has a text.
 */
export interface SqlToken {
  readonly kind: 'word' | 'mark' | 'operator' | 'comment' | 'other';
  /** A word in lower case, a mark or operator as it stands, empty for any other. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const SPACE = /[ \t\n\r\f\v]+/y;
const LINE_COMMENT = /--[^\n\r]*/y;
const WORD = /[A-Za-z_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
const NUMBER =
  /(?:0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|(?:\d[\d_]*(?:\.(?!\.)[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)?)/y;
const PARAMETER = /\$\d+/y;
const DOLLAR = /\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/y;
const PLAIN_STRING = /'(?:[^']|'')*(?:'|$)/y;
const ESCAPE_STRING = /'(?:[^'\\]|''|\\[^])*(?:'|$)/y;
const QUOTED_NAME = /"(?:[^"]|"")*(?:"|$)/y;
const OPERATOR = /(?:(?!--|\/\*)[~!@#^&|`?+\-*/%<>=])+/y;

const lengthAt = (pattern: RegExp, sql: string, at: number): number => {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex - at : 0;
};

/** Comments nest; one that does not end reaches to the end. */
const endOfComment = (sql: string, start: number): number => {
  const edge = /\/\*|\*\//g;
  edge.lastIndex = start + 2;
  let depth = 1;
  for (let found = edge.exec(sql); found !== null; found = edge.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1;
    if (depth === 0) return edge.lastIndex;
  }
  return sql.length;
};

const endOfDollars = (sql: string, at: number, length: number): number => {
  const end = sql.indexOf(sql.slice(at, at + length), at + length);
  return end === -1 ? sql.length : end + length;
};

const endOfLineBlanks = (sql: string, from: number): number => {
  let at = from;
  for (;;) {
    const length = lengthAt(SPACE, sql, at) || lengthAt(LINE_COMMENT, sql, at);
    if (length === 0) return at;
    at += length;
  }
};

/** Where the blanks and comments that begin at `from` end. */
export const endOfBlanks = (sql: string, from: number): number => {
  let at = endOfLineBlanks(sql, from);
  while (sql.startsWith('/*', at)) at = endOfLineBlanks(sql, endOfComment(sql, at));
  return at;
};

/** A string or a quoted name with what stands before its quote; 0 where none begins. */
const quotedAt = (sql: string, at: number): number => {
  const character = sql[at];
  if (character === "'") return lengthAt(PLAIN_STRING, sql, at);
  if (character === '"') return lengthAt(QUOTED_NAME, sql, at);
  const prefix = /[eEbBxXnN](?=')|[uU]&(?=['"])/y;
  const before = lengthAt(prefix, sql, at);
  if (before === 0) return 0;
  if (character === 'e' || character === 'E') return before + lengthAt(ESCAPE_STRING, sql, at + before);
  return before + lengthAt(sql[at + before] === '"' ? QUOTED_NAME : PLAIN_STRING, sql, at + before);
};

const tokenAt = (sql: string, start: number): SqlToken => {
  const token = (kind: SqlToken['kind'], length: number): SqlToken => {
    const text = kind === 'other' ? '' : sql.slice(start, start + length);
    return { kind, text: kind === 'word' ? text.toLowerCase() : text, start, end: start + length };
  };
  const quoted = quotedAt(sql, start);
  if (quoted > 0) return token('other', quoted);
  const word = lengthAt(WORD, sql, start);
  if (word > 0) return token('word', word);
  const number = lengthAt(NUMBER, sql, start) || lengthAt(PARAMETER, sql, start);
  if (number > 0) return token('other', number);
  const dollars = lengthAt(DOLLAR, sql, start);
  if (dollars > 0) return token('other', endOfDollars(sql, start, dollars) - start);
  const operator = lengthAt(OPERATOR, sql, start);
  return operator > 0 ? token('operator', operator) : token('mark', 1);
};

/** Without blanks and comments of one line. */
export function* tokensOf(sql: string): Generator<SqlToken> {
  let at = endOfLineBlanks(sql, 0);
  while (at < sql.length) {
    const token: SqlToken = sql.startsWith('/*', at)
      ? { kind: 'comment', text: '', start: at, end: endOfComment(sql, at) }
      : tokenAt(sql, at);
    yield token;
    at = endOfLineBlanks(sql, token.end);
  }
}

/** Characters that the scanner takes for one operator before it looks for a comment in it. */
const RUN = /[~!@#^&|`?+\-*/%<>=]*/y;

export const lengthOfRun = (sql: string, at: number): number => lengthAt(RUN, sql, at);
