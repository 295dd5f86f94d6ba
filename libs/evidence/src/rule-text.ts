const indentOf = (line: string): number => line.length - line.trimStart().length;

const isBlank = (line: string): boolean => line.trim() === '';

/**
 * The lines of one rule in the source of a policy, as they stand there; null where it is not written as a list item with the
 * id on a line of its own. The whole source says all, so that nothing hangs on this.
 */
export const ruleIn = (source: string, ruleId: string): string | null => {
  const lines = source.split(/\r?\n/);
  const at = lines.findIndex((line) => idOn(line) === ruleId);
  if (at < 0) return null;
  const column = (lines[at] ?? '').indexOf('id:');
  let first = at;
  while (first >= 0 && !isItemAround(lines[first] ?? '', column)) first -= 1;
  if (first < 0) return null;
  const dash = indentOf(lines[first] ?? '');
  let end = at + 1;
  while (end < lines.length && (isBlank(lines[end] ?? '') || indentOf(lines[end] ?? '') > dash)) end += 1;
  while (isBlank(lines[end - 1] ?? '')) end -= 1;
  return lines
    .slice(first, end)
    .map((line) => line.slice(Math.min(dash, indentOf(line))))
    .join('\n');
};

const ID_LINE = /^\s*(?:-\s+)?id:\s*(?:"([^"]*)"|'([^']*)'|([^\s#]+))\s*(?:#.*)?$/;

const idOn = (line: string): string | null => {
  const found = ID_LINE.exec(line);
  return found === null ? null : (found[1] ?? found[2] ?? found[3] ?? null);
};

/** Whether the line begins the list item that has its members in this column. */
const isItemAround = (line: string, column: number): boolean => {
  const indent = indentOf(line);
  return line.startsWith('- ', indent) && indent < column;
};
