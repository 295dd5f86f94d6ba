export const EXPRESSION_MAX_CHARACTERS = 2_048;
export const EXPRESSION_MAX_DEPTH = 32;
export const EXPRESSION_MAX_TOKENS = 500;

export interface ExpressionProblem {
  readonly code: 'expression_too_long' | 'expression_too_complex';
  /** UTF-16 offset in the expression. */
  readonly offset: number;
  readonly message: string;
}

export interface ExpressionScan {
  readonly tokens: number;
  readonly problem: ExpressionProblem | null;
}

// Triple-quoted texts first, then texts with escapes, comments, names, numbers, operators of two characters, anything.
// Each alternative consumes what it matches once: the scan is linear in the text.
const TOKEN =
  /[rR]?(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$))|[rR]"[^"\n]*"?|[rR]'[^'\n]*'?|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?|\/\/[^\n]*|[A-Za-z_]\w*|\d[\w.]*|&&|\|\||[=!<>]=|\S/g;

/** The tokens of an expression with their places, comments left out. */
export function* tokensOf(text: string): Generator<{ readonly token: string; readonly offset: number }> {
  for (const { 0: token, index } of text.matchAll(TOKEN)) if (!token.startsWith('//')) yield { token, offset: index };
}

/**
 * What must hold before the parser may see an expression: it recurses once a bracket, and its time grows faster than the
 * number of its tokens.
 */
export const scanExpression = (text: string): ExpressionScan => {
  const characters = [...text].length;
  if (characters > EXPRESSION_MAX_CHARACTERS) {
    const message = `The condition has ${characters} characters; at most ${EXPRESSION_MAX_CHARACTERS} are allowed.`;
    return { tokens: 0, problem: { code: 'expression_too_long', offset: 0, message } };
  }
  let depth = 0;
  let tokens = 0;
  for (const { token, offset } of tokensOf(text)) {
    tokens += 1;
    if (token === '(' || token === '[' || token === '{') depth += 1;
    if (token === ')' || token === ']' || token === '}') depth -= 1;
    if (depth > EXPRESSION_MAX_DEPTH)
      return tooComplex(tokens, offset, `more than ${EXPRESSION_MAX_DEPTH} brackets deep`);
    if (tokens > EXPRESSION_MAX_TOKENS) {
      return tooComplex(tokens, offset, `made of more than ${EXPRESSION_MAX_TOKENS} names, values and operators`);
    }
  }
  return { tokens, problem: null };
};

const tooComplex = (tokens: number, offset: number, what: string): ExpressionScan => ({
  tokens,
  problem: { code: 'expression_too_complex', offset, message: `The condition is ${what}.` },
});
