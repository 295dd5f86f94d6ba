import type { JsonObject } from '#libs/crypto';
import { CHANGE_FACTS } from './cel/change-facts.js';
import { compileExpression } from './cel/compile-expression.js';
import { POSTCONDITION_FACTS, type Vocabulary } from './cel/facts.js';
import { type Bindings, changeBindingsOf, postconditionBindingsOf } from './cel/values.js';
import { POLICY_EVALUATION_LIMIT_MS } from './evaluate-policy.js';
import { runWithin } from './time-limit.js';

/** What a postcondition reads (rule EXEC-8). */
export interface PostconditionInput {
  readonly args: JsonObject;
  /** What the read tool answered: `{status, headers, body}`. */
  readonly observation: JsonObject;
}

/** A changed row as a postcondition reads it: each column by its name, as the text that the database wrote. */
export interface ChangedRow {
  readonly table: string;
  readonly kind: 'insert' | 'update' | 'delete';
  /** A column that the change log does not hold is absent; NULL is null. Empty where there is no such row. */
  readonly old: Readonly<Record<string, string | null>>;
  readonly new: Readonly<Record<string, string | null>>;
}

/** What a postcondition of a change log reads. */
export interface ChangePostconditionInput {
  readonly args: JsonObject;
  /** All of them. Null where some are not kept: then a postcondition that reads them has no answer. */
  readonly rows: readonly ChangedRow[] | null;
  readonly row_count: number;
}

/**
 * Whether the postcondition holds. Null where it has no answer: it reads what is not there, or takes longer than a
 * policy's condition may. Never throws for an input.
 * @param text one that `checkPostcondition` finds nothing wrong with
 */
export const holdsPostcondition = (text: string, input: PostconditionInput): boolean | null =>
  holds(text, POSTCONDITION_FACTS, () => postconditionBindingsOf(input));

/**
 * As {@link holdsPostcondition}, of what a change log holds.
 * @param text one that `checkChangePostcondition` finds nothing wrong with
 */
export const holdsChangePostcondition = (text: string, input: ChangePostconditionInput): boolean | null =>
  holds(text, CHANGE_FACTS, () => changeBindingsOf(input));

const holds = (text: string, facts: Vocabulary, bindings: () => Bindings): boolean | null => {
  const { expression } = compileExpression(text, facts);
  if (expression === null) return null;
  const result = runWithin(POLICY_EVALUATION_LIMIT_MS, () => expression.evaluate(bindings()));
  return result.hasEnded && typeof result.value === 'boolean' ? result.value : null;
};
