import { distance } from 'fastest-levenshtein';

/** A name that is at most two edits away is taken for a typing error; with more edits it is taken for another word. */
const SLIP_MAX_EDITS = 2;
/**
 * A name of up to this many characters is allowed one edit only, because two edits would match almost any short name.
 */
const SHORT_NAME_CHARACTERS = 5;

/**
 * The known name that was probably meant; the first of several that are equally close. Null if none is within
 * `maxEdits`, or within one edit for a name of up to five characters. Two neighbouring characters that changed places
 * count as one edit.
 */
export const closestName = (name: string, known: Iterable<string>, maxEdits = SLIP_MAX_EDITS): string | null => {
  let closest: string | null = null;
  let fewestEdits = (name.length <= SHORT_NAME_CHARACTERS ? Math.min(maxEdits, 1) : maxEdits) + 1;
  for (const candidate of known) {
    // The distance is at least the difference in length, so a much longer or shorter name is skipped without computing
    // it.
    if (Math.abs(candidate.length - name.length) >= fewestEdits) continue;
    const edits = isSwap(name, candidate) ? 1 : distance(name, candidate);
    // A name that needs as many edits as it has characters has nothing in common with the given one.
    if (edits < fewestEdits && edits < candidate.length) [closest, fewestEdits] = [candidate, edits];
  }
  return closest;
};

const isSwap = (one: string, other: string): boolean => {
  if (one.length !== other.length) return false;
  const at = [...one].findIndex((character, index) => character !== other[index]);
  return at >= 0 && one[at] === other[at + 1] && one[at + 1] === other[at] && one.slice(at + 2) === other.slice(at + 2);
};
