import { hasControlCharacter } from './strict-text.js';

/** White space of Unicode, which is not what `\s` is: that leaves U+0085 out and takes U+FEFF in. */
const UNICODE_SPACE = /\p{White_Space}/u;

/**
 * Whether a text may name a key (signed-note, Format): not empty, no Unicode space, no plus, no control character, and
 * UTF-8 can spell it.
 */
export const isKeyName = (name: string): boolean =>
  name !== '' && name.isWellFormed() && !name.includes('+') && !UNICODE_SPACE.test(name) && !hasControlCharacter(name);
