import { closestName } from '../kernel/index.js';

/** For a hint: the known names, and the one that was probably meant. */
export const didYouMean = (name: string, known: readonly string[]): string => {
  const listed = `Known here: ${known.join(', ')}.`;
  const meant = closestName(name, known);
  return meant === null ? listed : `Did you mean ${meant}? ${listed}`;
};
