import { describe, expect, it } from 'vitest';
import { valueLines, visible } from './value-text.js';

describe('a value is read as lines', () => {
  it.each([
    ['a text keeps its quotes, so that it differs from a number', { id: '42', count: 42 }, ['id: "42"', 'count: 42']],
    ['members of members stand further in', { a: { b: [1, true] } }, ['a:', '  b:', '    - 1', '    - true']],
    ['what is empty stays on its line', { a: {}, b: [], c: null, d: '' }, ['a: {}', 'b: []', 'c: null', 'd: ""']],
    ['a text of several lines is shown as these', { sql: 'SELECT 1\nFROM t' }, ['sql:', '  | SELECT 1', '  | FROM t']],
    ['a name that is no word is quoted', { 'a: b': 1 }, ['"a: b": 1']],
    ['a list of objects', [{ a: 1 }], ['-', '  a: 1']],
    ['an item that is a list of one', [['x']], ['-', '  - "x"']],
    ['a text that begins like a bar is no line of another', { a: '| x' }, ['a: "| x"']],
  ] as const)('%s', (_, value, lines) => {
    expect(valueLines(value as never)).toEqual(lines);
  });
});

it.each([
  ['the direction of writing', 'abc\u202edef', 'abc\\u202edef'],
  ['no width', 'a\u200bb', 'a\\u200bb'],
  ['orders for the terminal', 'a\u001b[2Jb', 'a\\u001b[2Jb'],
  ['tags beyond the first plane', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
  ['nothing that is seen, a filler', 'a\u3164b', 'a\\u3164b'],
  ['nothing that is seen, a blank of braille', 'a\u2800b', 'a\\u2800b'],
  ['the character before it', 'a\ufe0fb', 'a\\ufe0fb'],
  ['nothing, the grapheme joiner', 'a\u034fb', 'a\\u034fb'],
])('a character that changes %s is spelled out', (_, text, shown) => {
  expect(visible(text)).toBe(shown);
});

describe('what is spelled out', () => {
  const LOOKALIKES = ['\u001b', '\\u001b', '\\\u001b', '\\\\u001b', '\\\\\u001b'];

  it('is never what somebody wrote in these very letters', () => {
    for (const shown of [
      LOOKALIKES.map((text) => visible(text)),
      LOOKALIKES.map((text) => valueLines(text).join('\n')),
      LOOKALIKES.map((text) => valueLines(`${text}\n`).join('\n')),
    ])
      expect(new Set(shown).size).toBe(LOOKALIKES.length);
  });

  it('leaves a backslash alone that nobody can take for another', () => {
    expect(valueLines('C:\\temp\n\\d+')).toEqual(['| C:\\temp', '| \\d+']);
  });
});
