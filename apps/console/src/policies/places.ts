/** A text as CodeMirror counts it: offsets are UTF-16 units from 0, lines count from 1. */
interface Lines {
  readonly lines: number;
  line(number: number): { readonly from: number; readonly to: number; readonly text: string };
}

/**
 * The range of the word at a finding. Without a word, the one character there; at the end of a line, the character
 * before.
 * @param column from 1, in characters as the API counts them: a character may be two UTF-16 units
 */
export const placeOf = (doc: Lines, line: number, column: number): { readonly from: number; readonly to: number } => {
  const { from, text } = doc.line(Math.max(1, Math.min(line, doc.lines)));
  const before = [...text].slice(0, column - 1).join('').length;
  const word = /^[^\s:,]+/.exec(text.slice(before))?.[0].length ?? 0;
  const start = Math.min(before, text.length);
  if (word > 0) return { from: from + start, to: from + start + word };
  return start < text.length
    ? { from: from + start, to: from + start + 1 }
    : { from: from + Math.max(0, start - 1), to: from + start };
};

/** The line of a rule in a source, by the rule's id; null if the source has no such rule. */
export const lineOfRule = (source: string, id: string): number | null => {
  const at = source.split('\n').findIndex((line) => /^\s*(?:-\s+)?id:\s*(.*?)\s*(?:#.*)?\r?$/.exec(line)?.[1] === id);
  return at === -1 ? null : at + 1;
};
