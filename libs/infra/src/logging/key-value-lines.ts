/** Values that need no quotes. Everything else is quoted, so that a value never looks like the next key. */
const BARE_VALUE = /^[\w.:/@+,-]+$/;
// A terminal would act on these: control characters, and text directions that reorder a line.
const NOT_PRINTABLE_ASCII = /[^\x20-\x7e]/g;

/** Turns each JSON line into `key=value key=value`, for people who read a terminal. Groups become `a.b=value`. */
export const keyValueLines = (destination: { write(line: string): void }): { write(line: string): void } => ({
  write: (line) => {
    const pairs: string[] = [];
    collect('', JSON.parse(line) as Record<string, unknown>, pairs);
    destination.write(`${pairs.join(' ')}\n`);
  },
});

const collect = (prefix: string, group: Record<string, unknown>, pairs: string[]): void => {
  for (const [name, value] of Object.entries(group)) {
    const key = `${prefix}${escapeText(name).replace(/[\s=]/g, '_')}`;
    if (value !== null && typeof value === 'object' && !Array.isArray(value)) {
      collect(`${key}.`, value as Record<string, unknown>, pairs);
    } else {
      pairs.push(`${key}=${formatValue(value)}`);
    }
  }
};

const formatValue = (value: unknown): string => {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return BARE_VALUE.test(text) ? text : escapeText(JSON.stringify(text));
};

const escapeText = (text: string): string =>
  text.replace(NOT_PRINTABLE_ASCII, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
