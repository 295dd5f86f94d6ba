/** How the message of an {@link EvaluationLimit} begins: the evaluator passes on the message and not the error. */
export const EVALUATION_LIMIT = 'evaluation limit: ';

/** A call asked for more than a condition may look at. Ends the evaluation: the call is refused. */
export class EvaluationLimit extends Error {
  override readonly name = 'EvaluationLimit';

  constructor(what: string) {
    super(EVALUATION_LIMIT + what);
  }
}

/** Items of one list or map that `all`, `exists`, `filter`, `map` and `in` look through. Counted in full by the cost. */
export const ITEMS_MAX = 1_000;

/** Characters of a text that `matches` looks through. */
export const MATCHED_MAX_CHARACTERS = 65_536;

/** Characters of a text that `double` reads as a number. */
export const NUMBER_MAX_CHARACTERS = 1_024;
