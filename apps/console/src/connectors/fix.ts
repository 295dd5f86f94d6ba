/** What mends a failed check: a sentence, and below it the commands to run, null if there are none. */
export const fixOf = (text: string): { readonly words: string; readonly code: string | null } => {
  const end = text.indexOf('\n');
  return end === -1 ? { words: text, code: null } : { words: text.slice(0, end), code: text.slice(end + 1) };
};
