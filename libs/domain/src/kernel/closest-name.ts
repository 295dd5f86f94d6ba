import { distance } from 'fastest-levenshtein';

/** Two edits are a slip of the hand; more are another word. */
const SLIP_MAX_EDITS = 2;
/** In a name this short, two edits leave too little to tell what was meant. */
const SHORT_NAME_CHARACTERS = 5;

/**
 * The known name that was probably meant; the first of several that are equally close. Null when none is within
 * `maxEdits`, or within one edit for a name of up to five characters. Two neighbours that changed places count as one
 * edit.
 */
export const closestName = (name: string, known: Iterable<string>, maxEdits = SLIP_MAX_EDITS): string | null => {
  let closest: string | null = null;
  let fewestEdits = (name.length <= SHORT_NAME_CHARACTERS ? Math.min(maxEdits, 1) : maxEdits) + 1;
  for (const candidate of known) {
    // The distance is at least the difference in length: what is much longer costs nothing.
    if (Math.abs(candidate.length - name.length) >= fewestEdits) continue;
    const edits = isSwap(name, candidate) ? 1 : distance(name, candidate);
    // Edits that leave nothing of a name make another word of it.
    if (edits < fewestEdits && edits < candidate.length) [closest, fewestEdits] = [candidate, edits];
  }
  return closest;
};

const isSwap = (one: string, other: string): boolean => {
  if (one.length !== other.length) return false;
  const at = [...one].findIndex((character, index) => character !== other[index]);
  return at >= 0 && one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
};
