import { CHANGE_FACTS } from './cel/change-facts.js';
import { compileExpression } from './cel/compile-expression.js';
import { POSTCONDITION_FACTS, type Vocabulary } from './cel/facts.js';
import { POLICY_DIAGNOSTICS } from './diagnostics.js';
import { SourceText } from './source-text.js';

export interface PostconditionError {
  /** 1 for the first line. */
  readonly line: number;
  /** In characters (code points), 1 for the first of the line. */
  readonly column: number;
  /** What is wrong, and what to write instead where that is known. Sentences. */
  readonly message: string;
}

/**
 * What keeps a text from being a postcondition, in the order of the text (rule EXEC-8). A postcondition is CEL that
 * gives a bool and reads `args` and `observation` alone. It has the limits of a policy's condition, at most 100,000
 * steps among them.
 */
export const checkPostcondition = (text: string): readonly PostconditionError[] => errorsIn(text, POSTCONDITION_FACTS);

/** As {@link checkPostcondition}, of one that is asked of a change log: it reads `args`, `rows` and `row_count` alone. */
export const checkChangePostcondition = (text: string): readonly PostconditionError[] => errorsIn(text, CHANGE_FACTS);

const errorsIn = (text: string, facts: Vocabulary): readonly PostconditionError[] => {
  const source = new SourceText(text);
  return compileExpression(text, facts)
    .problems.filter(({ code }) => POLICY_DIAGNOSTICS[code].severity === 'error')
    .toSorted((one, other) => one.offset - other.offset)
    .map(({ offset, message, hint }) => ({
      ...source.positionAt(offset),
      message: hint === undefined ? message : `${message} ${hint}`,
    }));
};
