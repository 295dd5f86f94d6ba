import { HIDDEN_CHARACTERS, type JsonValue } from '#libs/crypto';

/** What is read might not be what was sent. */
const UNSEEN = new RegExp(HIDDEN_CHARACTERS, 'gu');
/** Backslashes that stand before what is spelled out, or before what looks like it. */
const TAKEN_FOR_OURS = new RegExp(`\\\\+(?=u[0-9a-f]{4}|${HIDDEN_CHARACTERS.source})`, 'gu');

const escaped = (character: string): string =>
  [...Array(character.length).keys()]
    .map((at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');

/**
 * The text with everything spelled out that a reader would not see. Backslashes are doubled where they would be taken for
 * ours, so that two texts never look the same.
 */
export const visible = (text: string): string => spelledOut(text.replace(TAKEN_FOR_OURS, '$&$&'));

const spelledOut = (text: string): string => text.replace(UNSEEN, escaped);

/** A text in quotes as JSON has it, in which every backslash is doubled already. */
export const quoted = (text: string): string => spelledOut(JSON.stringify(text));

const STEP = '  ';

/**
 * A JSON value as lines that a person reads: members below one another, texts in quotes as JSON has them, and a text of several
 * lines as these lines, each behind a bar.
 */
export const valueLines = (value: JsonValue): readonly string[] => {
  if (typeof value === 'string') return textLines(value);
  if (value === null || typeof value !== 'object') return [String(value)];
  const entries: readonly (readonly [string, JsonValue])[] = Array.isArray(value)
    ? value.map((item) => ['-', item] as const)
    : Object.entries(value).map(([name, item]) => [`${nameText(name)}:`, item] as const);
  if (entries.length === 0) return [Array.isArray(value) ? '[]' : '{}'];
  return entries.flatMap(([label, item]) => labelled(label, item));
};

const PLAIN_NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

const nameText = (name: string): string => (PLAIN_NAME.test(name) ? name : quoted(name));

const labelled = (label: string, item: JsonValue): readonly string[] => {
  const [first = '', ...rest] = valueLines(item);
  const isOnOneLine = rest.length === 0 && (item === null || typeof item !== 'object' || isEmpty(item));
  return isOnOneLine ? [`${label} ${first}`] : [label, ...[first, ...rest].map((line) => `${STEP}${line}`)];
};

const isEmpty = (item: object): boolean => Object.keys(item).length === 0;

const textLines = (text: string): readonly string[] =>
  text.includes('\n') ? text.split('\n').map((line) => `| ${visible(line)}`) : [quoted(text)];
