/** What PostgreSQL keeps of a name (NAMEDATALEN). */
const NAME_MAX_BYTES = 63;
/** What needs no quotes here. Case is kept: PostgreSQL has folded what stood without quotes. */
const PLAIN = /^[\p{L}_][\p{L}\p{M}\p{N}_$]*$/u;

/** A name in one spelling: as it is stored, in double quotes where a dot or another odd character could mislead. */
export const spelled = (name: string): string => (PLAIN.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** `schema.name`, so that no two tables have one spelling. */
export const qualified = (parts: readonly string[]): string => parts.map(spelled).join('.');

/** For a sentence: at most as long as a name can be, and without what could end its line. */
export const shown = (name: string): string => {
  let kept = '';
  for (const character of spelled(name).replaceAll(/[\p{C}\p{Z}]/gu, ' ')) {
    if (Buffer.byteLength(kept + character) > NAME_MAX_BYTES) break;
    kept += character;
  }
  return kept;
};
