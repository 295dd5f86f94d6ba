import { distance } from 'fastest-levenshtein';

// Comparing costs the product of both lengths; a name this long is no slip of a known one.
const COMPARED_MAX_CHARACTERS = 80;

/** For a hint: the known names, and the one that was probably meant. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const listed = `Known here: ${known.join(', ')}.`;
  if (name.length > COMPARED_MAX_CHARACTERS) return listed;
  const closest = known
    .map((one) => ({ one, edits: distance(name, one) }))
    .sort((left, right) => left.edits - right.edits)[0];
  // Two edits are a slip of the hand; more are another word.
  const isSlip = closest !== undefined && closest.edits <= 2 && closest.edits < closest.one.length;
  return isSlip ? `Did you mean ${closest.one}? ${listed}` : listed;
};
