const NUMBERS = `[${Array.from({ length: 40 }, (_, index) => index + 1).join(', ')}]`;
const CONDITION = `${NUMBERS}.exists(x, ${NUMBERS}.exists(y, args.amount == x * y + 100000))`;
const RULES = Array.from(
  { length: 40 },
  (_, index) => `  - id: slow-${index}\n    when: |\n      ${CONDITION}\n    decision: deny\n`,
);

/** A policy that may be saved and takes some ten milliseconds for a call whose `args.amount` is 1, which it allows. */
export const SLOW_POLICY = `version: 1\ndefault: allow\nrules:\n${RULES.join('')}`;
