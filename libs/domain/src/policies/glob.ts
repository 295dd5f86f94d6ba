/** Steps that matching may still take: counted and not timed, so that every machine stops at the same place. */
export interface StepBudget {
  left: number;
}

/**
 * Globs of the policy language: `*` stands for any run of characters, also none and also dots; everything else stands
 * for itself. Matching is greedy with one step back and needs at most text x pattern steps: no input makes it explode.
 */
export const matchesGlob = (pattern: string, text: string, budget: StepBudget | null = null): boolean => {
  let steps = 0;
  let at = 0;
  let inPattern = 0;
  let lastStar = -1;
  let resumeAt = 0;
  while (at < text.length) {
    steps += 1;
    if (pattern[inPattern] === '*') {
      lastStar = inPattern;
      resumeAt = at;
      inPattern += 1;
    } else if (inPattern < pattern.length && pattern[inPattern] === text[at]) {
      inPattern += 1;
      at += 1;
    } else if (lastStar !== -1) {
      // The last star takes one character more. Earlier stars need no second try: it can take whatever they would.
      inPattern = lastStar + 1;
      resumeAt += 1;
      at = resumeAt;
    } else {
      break;
    }
  }
  if (budget !== null) budget.left -= steps;
  if (at < text.length) return false;
  while (pattern[inPattern] === '*') inPattern += 1;
  return inPattern === pattern.length;
};

// Stands in no pattern, since control characters are refused: only a star can match it.
const ANY_RUN = '\u0000';

/** Whether every text that `narrow` matches is matched by `wide`. Exact: a run that only a star can take stands for all. */
export const coversGlob = (wide: string, narrow: string, budget: StepBudget | null = null): boolean =>
  matchesGlob(wide, narrow.replaceAll('*', ANY_RUN), budget);
