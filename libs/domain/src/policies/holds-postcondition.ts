import type { JsonObject } from '#libs/crypto';
import { compileExpression } from './cel/compile-expression.js';
import { POSTCONDITION_FACTS } from './cel/facts.js';
import { postconditionBindingsOf } from './cel/values.js';
import { POLICY_EVALUATION_LIMIT_MS } from './evaluate-policy.js';
import { runWithin } from './time-limit.js';

/** What a postcondition reads (rule EXEC-8). */
export interface PostconditionInput {
  readonly args: JsonObject;
  /** What the read tool answered: `{status, headers, body}`. */
  readonly observation: JsonObject;
}

/**
 * Whether the postcondition holds. Null where it has no answer: it reads what is not there, or takes longer than a
 * policy's condition may. Never throws for an input.
 * @param text one that `checkPostcondition` finds nothing wrong with
 */
export const holdsPostcondition = (text: string, input: PostconditionInput): boolean | null => {
  const { expression } = compileExpression(text, POSTCONDITION_FACTS);
  if (expression === null) return null;
  const result = runWithin(POLICY_EVALUATION_LIMIT_MS, () => expression.evaluate(postconditionBindingsOf(input)));
  return result.hasEnded && typeof result.value === 'boolean' ? result.value : null;
};
