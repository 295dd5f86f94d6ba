import { RE2JS, RE2JSException } from 're2js';

export const PATTERN_MAX_CHARACTERS = 256;

/** All patterns of one condition together, as `patternSteps` counts them: about 20 ms. */
export const EXPRESSION_PATTERN_STEPS_MAX = 10_000;

export interface Pattern {
  test(text: string): boolean;
  /** Instructions of the compiled program: what one character of text may cost at most. */
  programSize(): number;
}

// Patterns are literals of saved policies, so few are in use at once; the bound only keeps linting from filling it.
const CACHED_MAX = 1_000;
const compiledPatterns = new Map<string, Pattern>();

/** RE2: time linear in the text, no lookaround, no back-references. Compiled once. */
export const compilePattern = (pattern: string): Pattern | { readonly fault: string } => {
  const known = compiledPatterns.get(pattern);
  if (known !== undefined) return known;
  try {
    const compiled = RE2JS.compile(pattern);
    if (compiledPatterns.size >= CACHED_MAX) compiledPatterns.clear();
    compiledPatterns.set(pattern, compiled);
    return compiled;
  } catch (error) {
    if (error instanceof RE2JSException) return { fault: error.message.replace(/^error parsing regexp: /, '') };
    throw error;
  }
};
