/** Control characters (C0 with ESC, DEL and C1). A terminal that shows a text to a person would execute them. */
const CONTROL = /\p{Cc}/u;
/**
 * Control characters that a text of several lines may have. A carriage return without a line feed is not among them,
 * because in a terminal it lets the following text overwrite the line.
 */
const LAYOUT = /[\t\n]|\r(?=\n)/g;
/** Not control characters, but a reader may see them as the end of a line. */
const LINE_OR_PARAGRAPH_SEPARATOR = /[\u2028\u2029]/u;

/**
 * Whether a text that a person wrote may be stored: it may have several lines and tabs, and no other control character.
 */
export const isPlainText = (text: string): boolean => !CONTROL.test(text.replace(LAYOUT, ''));

/** Whether a text that must be one line may be stored: no control character and no line separator. */
export const isOneLine = (text: string): boolean => !CONTROL.test(text) && !LINE_OR_PARAGRAPH_SEPARATOR.test(text);

/** How an error message words the rule of {@link isPlainText}. */
export const WITHOUT_CONTROL_CHARACTERS = 'without control characters other than tabs and line breaks';
