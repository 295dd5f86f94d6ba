import { refusal } from './refusal.js';
import { STATEMENT_MAX_BYTES } from './sql-statement.js';
import { endOfBlanks, lengthOfRun, type SqlToken, tokensOf } from './sql-tokens.js';

const BRACKETS_MAX = 100;
/** Pieces between two commas, with those of the brackets around them: no part can lie deeper than this. */
const PIECES_MAX = 1_000;
/** PostgreSQL's scanner goes over a run of such characters again and again, as often as its length to the power of three. */
const OPERATOR_MAX = 63;
/** In a comment between stars it goes over it once for each comment that could begin there. */
const COMMENT_RUN_MAX = 256;
const LONG_RUN = new RegExp(`[~!@#^&|\`?+\\-*/%<>=]{${String(COMMENT_RUN_MAX + 1)}}`);
/** What is shorter cannot be nested too deeply. */
const TOO_SHORT_TO_NEST = 100;
/** What a chain of them is counted as, since commas do not end it. */
const PIECES_OF_A_SET_OPERATION = 4;
const SET_OPERATIONS = new Set(['union', 'intersect', 'except']);
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/;

const SPLIT = 'Split it into several calls, or pass a list as one parameter and compare with = ANY($1)';

/** Refuses what must not reach the parser: it is a program in C with a stack, and is given no text that could exhaust it. */
export const checkText = (sql: string): void => {
  // A character is at most three bytes: what is far too long is not measured.
  if (sql.length > STATEMENT_MAX_BYTES || Buffer.byteLength(sql) > STATEMENT_MAX_BYTES) {
    throw refusal(`be longer than ${String(STATEMENT_MAX_BYTES)} bytes`, 'Pass long values as parameters');
  }
  if (!sql.isWellFormed()) {
    throw refusal('hold half of a surrogate pair', 'Send well-formed Unicode, and other bytes as a parameter');
  }
  if (CONTROL.test(sql)) {
    throw refusal('hold control characters but tab and line breaks', 'Pass such a value as a parameter');
  }
  if (sql.length > TOO_SHORT_TO_NEST || /update/i.test(sql)) checkNesting(sql);
};

interface Level {
  /** Pieces since the last comma. */
  pieces: number;
  /** Of them those that a comma does not end. */
  kept: number;
  /** Whether the bracket can be the left side of a SET. */
  readonly isAssignable: boolean;
}

const checkNesting = (sql: string): void => {
  const levels: Level[] = [{ pieces: 0, kept: 0, isAssignable: false }];
  const mayAssign = /update/i.test(sql);
  let open = 0;
  let before: SqlToken | null = null;
  for (const token of tokensOf(sql)) {
    const level = levels.at(-1) ?? levels[0];
    if (level === undefined) return;
    checkRun(sql, token);
    if (token.kind === 'comment') continue;
    if (isOpening(token)) {
      level.pieces += 1;
      open += 1;
      levels.push({ pieces: 0, kept: 0, isAssignable: before?.text === 'set' || before?.text === ',' });
    } else if (isClosing(token)) {
      if (levels.length > 1) {
        levels.pop();
        open -= level.pieces;
      }
      if (mayAssign && level.isAssignable) checkAssignment(sql, token.end);
    } else {
      open += countPiece(level, token);
    }
    if (levels.length - 1 > BRACKETS_MAX || open > PIECES_MAX) {
      throw refusal('be nested or chained that deeply', SPLIT);
    }
    before = token;
  }
};

const checkRun = (sql: string, { kind, start, end }: SqlToken): void => {
  const isTooLong =
    (kind === 'operator' && lengthOfRun(sql, start) > OPERATOR_MAX) ||
    (kind === 'comment' && LONG_RUN.test(sql.slice(start, end + COMMENT_RUN_MAX)));
  if (isTooLong) throw refusal('hold that many operators in a row', 'Put blanks between them, and shorten the comment');
};

const isOpening = ({ text }: SqlToken): boolean => text === '(' || text === '[';
const isClosing = ({ text }: SqlToken): boolean => text === ')' || text === ']';

/** By how much the count of open pieces changes. */
const countPiece = (level: Level, { kind, text }: SqlToken): number => {
  const before = level.pieces;
  if (kind === 'word' && SET_OPERATIONS.has(text)) level.kept += PIECES_OF_A_SET_OPERATION;
  level.pieces = text === ',' || SET_OPERATIONS.has(text) ? level.kept : level.pieces + 1;
  return level.pieces - before;
};

/**
 * The parser writes the right side of `SET (a, b) = …` once for each column, and so again for each that lies in it: a short
 * text would become gigabytes.
 */
const checkAssignment = (sql: string, after: number): void => {
  if (sql[endOfBlanks(sql, after)] !== '=') return;
  throw refusal('set several columns by one bracket', 'Set each column by itself: SET a = …, b = …');
};
