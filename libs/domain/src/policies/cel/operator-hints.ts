/** How other languages write an operator, with how CEL does. `=~` is left out: it is not certain what was meant. */
const OPERATORS: readonly (readonly [pattern: RegExp, operator: string])[] = [
  [/^(?:and\b|&)/i, '&&'],
  [/^(?:or\b|\|)/i, '||'],
  [/^=>/, '>='],
  [/^=</, '<='],
  [/^=(?![=~])/, '=='],
];

export const NOT_HINT = 'Write ! for not, and the whole condition in quotes where it begins with it.';

/**
 * The next step for a token that stands where an operator must, where it is certain which one was meant.
 * @param rest the condition from that token on
 * @param before the two tokens before it, the nearer one first
 */
export const operatorHint = (
  rest: string,
  [previous, beforePrevious]: readonly [string, string],
): string | undefined => {
  const operator = OPERATORS.find(([pattern]) => pattern.test(rest))?.[1];
  if (operator !== undefined) return `Write ${operator} here.`;
  if (/^not\s+in\b/i.test(rest)) return 'Write ! before the comparison in brackets, as in !(args.a in args.b).';
  return previous.toLowerCase() === 'not' && beforePrevious !== '.' ? NOT_HINT : undefined;
};
