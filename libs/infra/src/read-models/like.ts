import { storedText } from './columns.js';

/** A LIKE pattern for a glob in which `*` is any run of characters and everything else is itself. */
export const likeGlob = (glob: string): string => literally(glob).replaceAll('*', '%');

/** A LIKE pattern for texts that contain this one. */
export const likeContaining = (text: string): string => `%${literally(text)}%`;

/** `%`, `_` and the backslash that would escape them, as themselves. */
const literally = (text: string): string => storedText(text).replace(/[\\%_]/g, '\\$&');
