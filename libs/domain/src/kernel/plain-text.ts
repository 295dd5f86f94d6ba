/** C0 with ESC, DEL and C1: what a terminal takes for an order where a person reads a text. */
const CONTROL = /\p{Cc}/u;
/** Of ordinary text of several lines. A carriage return that ends no line writes over what stands in it. */
const LAYOUT = /[\t\n]|\r(?=\n)/g;
/** What a reader may see as the end of a line beside the control characters that are. */
const LINE_OR_PARAGRAPH_SEPARATOR = /[\u2028\u2029]/u;

/** Whether a text of people may be stored: it may have several lines, and no other control character. */
export const isPlainText = (text: string): boolean => !CONTROL.test(text.replace(LAYOUT, ''));

/** The same of a text that is one line. */
export const isOneLine = (text: string): boolean => !CONTROL.test(text) && !LINE_OR_PARAGRAPH_SEPARATOR.test(text);

/** How a message says what {@link isPlainText} wants. */
export const WITHOUT_CONTROL_CHARACTERS = 'without control characters other than tabs and line breaks';
