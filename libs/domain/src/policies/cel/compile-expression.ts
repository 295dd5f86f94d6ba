import { parse, plan } from '@bufbuild/cel';

import { accessChainsOf } from './access-chains.js';
import { boundRanges } from './bound-ranges.js';
import { checkTypes, type Problem } from './check-types.js';
import { COST_MAX, estimateCost } from './cost.js';
import { ENVIRONMENT } from './environment.js';
import { scanExpression } from './expression-text.js';
import type { Vocabulary } from './facts.js';
import { type Answer, answerOf } from './answers.js';
import { EXPRESSION_PATTERN_STEPS_MAX } from './patterns.js';
import { invalidAt, syntaxFault } from './syntax-fault.js';
import { type ParsedExpression, required } from './syntax-tree.js';
import type { Bindings } from './values.js';

/** A condition that can be asked. Never throws for a call's values: what cannot be judged is an answer too. */
export interface CompiledExpression {
  readonly text: string;
  /** Steps of one evaluation at most, as estimated. */
  readonly cost: number;
  evaluate(bindings: Bindings): Answer;
}

export interface ExpressionResult {
  /** Null when a problem is an error. */
  readonly expression: CompiledExpression | null;
  readonly problems: readonly Problem[];
  /** What building its patterns took. */
  readonly patternSteps: number;
}

/**
 * @param facts what the expression may read: a condition {@link FACTS}, a postcondition {@link POSTCONDITION_FACTS}
 * @param patternStepsMax what building its patterns may take at most
 */
export const compileExpression = (
  text: string,
  facts: Vocabulary,
  patternStepsMax = EXPRESSION_PATTERN_STEPS_MAX,
): ExpressionResult => {
  const { problem } = scanExpression(text);
  if (problem !== null) return refused(problem);
  const parsed = parseExpression(text);
  if ('code' in parsed) return refused(parsed);
  const { problems: found, optionalReads, hasErrors, patternSteps } = checkTypes(parsed, facts, patternStepsMax);
  const problems = found.map((problem) => ({ ...problem, offset: tokenAt(text, problem.offset) }));
  if (hasErrors) return { expression: null, problems, patternSteps };
  const cost = Math.ceil(estimateCost(parsed, facts));
  if (cost > COST_MAX) {
    const message = `The condition may take ${cost} steps; at most ${COST_MAX} are allowed.`;
    return { expression: null, problems: [...problems, { code: 'cost_too_high', offset: 0, message }], patternSteps };
  }
  const reads = { optional: optionalReads, chains: accessChainsOf(required(parsed.expr)) };
  const ask = plan(ENVIRONMENT, boundRanges(required(parsed.expr)));
  const evaluate = (bindings: Bindings): Answer => answerOf(ask(bindings), reads, bindings);
  return { expression: { text, cost, evaluate }, problems, patternSteps };
};

/**
 * What the checker finds of an expression by other facts than it was compiled by. None for one that does not parse.
 * @param facts as in {@link compileExpression}
 */
export const checkExpression = (text: string, facts: Vocabulary): readonly Problem[] => {
  if (scanExpression(text).problem !== null) return [];
  const parsed = parseExpression(text);
  if ('code' in parsed) return [];
  const { problems } = checkTypes(parsed, facts, EXPRESSION_PATTERN_STEPS_MAX);
  return problems.map((problem) => ({ ...problem, offset: tokenAt(text, problem.offset) }));
};

/** The parser places an operator where the space before it begins, and a field or a method at its dot. */
const tokenAt = (text: string, offset: number): number =>
  offset + (/^\s*(?:\.\s*(?=[A-Za-z_]))?/.exec(text.slice(offset))?.[0].length ?? 0);

const refused = (problem: Problem): ExpressionResult => ({ expression: null, problems: [problem], patternSteps: 0 });

const parseExpression = (text: string): ParsedExpression | Problem => {
  try {
    // The parser wants a line break after a comment, also at the end.
    return parse(`${text}\n`);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return syntaxProblem(error, text);
  }
};

/**
 * The parser's errors carry `location`, and `found` where no token was expected; others come from literals, such as a
 * surrogate in an escape.
 */
const syntaxProblem = (error: Error, text: string): Problem => {
  const { found, location } = error as { found?: string | null; location?: { start: { offset: number } } };
  const offset = Math.min(location?.start.offset ?? 0, text.length);
  if (found === undefined) return invalidAt(offset, error.message.replace(/^<input>:\d+:\d+: /, ''));
  return syntaxFault(text) ?? invalidAt(offset, found ? `"${found}" is not expected here` : 'it ends too early');
};
