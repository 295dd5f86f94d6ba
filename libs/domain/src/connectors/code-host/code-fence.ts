/** Behind the marks of lists, if any; a run of backticks alone has none after it on its line. */
const FENCE = /^( {0,3}(?:(?:[-+*]|\d{1,9}[.)]) {1,4})*)(`{3,}(?=[^`]*$)|~{3,})(.*)$/;

interface OpenFence {
  readonly indent: number;
  readonly run: string;
  /** In an item of a list, which ends it, too. */
  readonly isInItem: boolean;
}

/**
 * A Markdown text whose last code block is closed, so that what is put under it is no part of it. A block within a list or
 * a quotation ends with that, and what is put under it stands at the beginning of a line.
 */
export const withoutOpenFence = (text: string): string => {
  const open = openFenceOf(text);
  if (open === null) return text;
  const newline = text.endsWith('\n') ? '' : '\n';
  return `${text}${newline}${' '.repeat(open.indent)}${open.run}`;
};

const openFenceOf = (text: string): OpenFence | null => {
  let open: OpenFence | null = null;
  let isInItem = false;
  for (const line of text.split(/\r\n|\r|\n/)) {
    if (line.trim() === '') continue;
    const indent = line.length - line.trimStart().length;
    if (open?.isInItem === true && indent < open.indent) open = null;
    if (open === null) {
      isInItem = /^\s*(?:[-+*]|\d{1,9}[.)])\s/.test(line) || (isInItem && indent > 0);
      open = fenceOn(line, isInItem);
    } else if (closes(line, open)) open = null;
  }
  return open;
};

const fenceOn = (line: string, isInItem: boolean): OpenFence | null => {
  const [, before = '', run] = FENCE.exec(line) ?? [];
  return run === undefined ? null : { indent: before.length, run, isInItem: isInItem && before.length > 0 };
};

const closes = (line: string, { run }: OpenFence): boolean => {
  const [, , other, after] = FENCE.exec(line) ?? [];
  const isOfLine = /^\s*[`~]/.test(line);
  return isOfLine && other?.[0] === run[0] && other !== undefined && other.length >= run.length && after?.trim() === '';
};
