import { compilePattern, PATTERN_MAX_CHARACTERS } from './patterns.js';
import { type Call, type Expression, literalText } from './syntax-tree.js';
import { isDuration, isTimestamp } from './time-literals.js';
import { isTimeZone } from './time-fields.js';

export interface LiteralProblem {
  readonly code: 'invalid_pattern' | 'invalid_literal';
  readonly at: Expression | undefined;
  readonly message: string;
}

/** Literals that would fail on every call: they are known now, so they are told now. */
export const checkLiterals = ({ function: name, args, target }: Call): readonly LiteralProblem[] => {
  if (name === 'matches') return checkPattern(args[0]);
  if (name === 'timestamp') return checkWith(isTimestamp, args[0], 'is no RFC 3339 time such as 2026-01-31T09:00:00Z');
  if (name === 'duration') return checkWith(isDuration, args[0], 'is no duration such as 90s, 15m or 24h');
  if (target !== undefined && name.startsWith('get')) return checkTimeZone(args[0]);
  return [];
};

/** A pattern is a literal, so that it is compiled once and its cost is known (RE2: time linear in the text). */
const checkPattern = (at: Expression | undefined): readonly LiteralProblem[] => {
  const pattern = literalText(at);
  if (pattern === null)
    return [{ code: 'invalid_pattern', at, message: 'The pattern of matches() is not a literal text.' }];
  if ([...pattern].length > PATTERN_MAX_CHARACTERS) {
    const message = `The pattern is longer than ${PATTERN_MAX_CHARACTERS} characters.`;
    return [{ code: 'invalid_pattern', at, message }];
  }
  const compiled = compilePattern(pattern);
  return 'fault' in compiled
    ? [{ code: 'invalid_pattern', at, message: `The pattern is not valid: ${compiled.fault}.` }]
    : [];
};

const checkTimeZone = (at: Expression | undefined): readonly LiteralProblem[] => {
  if (at === undefined) return [];
  const zone = literalText(at);
  if (zone === null) return [{ code: 'invalid_literal', at, message: 'The time zone is not a literal text.' }];
  return checkWith(isTimeZone, at, 'is no time zone such as UTC, +02:00 or Europe/Vienna');
};

const checkWith = (
  isValid: (text: string) => boolean,
  at: Expression | undefined,
  fault: string,
): readonly LiteralProblem[] => {
  const text = literalText(at);
  return text === null || isValid(text) ? [] : [{ code: 'invalid_literal', at, message: `"${text}" ${fault}.` }];
};
