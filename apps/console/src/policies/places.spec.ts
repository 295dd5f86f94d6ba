import { describe, expect, it } from 'vitest';
import { lineOfRule, placeOf } from './places.ts';

const docOf = (text: string) => {
  const lines = text.split('\n');
  const line = (number: number) => {
    const from = lines.slice(0, number - 1).reduce((sum, each) => sum + each.length + 1, 0);
    const here = lines[number - 1] ?? '';
    return { from, to: from + here.length, text: here };
  };
  return { lines: lines.length, line };
};
const marked = (text: string, line: number, column: number): string => {
  const { from, to } = placeOf(docOf(text), line, column);
  return text.slice(from, to);
};

describe('the place of a finding', () => {
  it('is the word there, by line and column from 1', () => {
    expect(marked('version: 1\ndefault: denied\n', 2, 10)).toBe('denied');
    expect(marked('version: 1\ndefault: denied\n', 1, 1)).toBe('version');
  });
  it('counts characters, which may be two UTF-16 units', () => expect(marked('# 😀😀 here\n', 1, 6)).toBe('here'));
  it('is not empty unless the line is', () => {
    expect(marked('when:\n', 1, 6)).toBe(':');
    expect(marked('a b', 1, 2)).toBe(' ');
  });
  it('is within the text, even if the text has changed since', () => {
    expect(placeOf(docOf('a\nb'), 99, 99)).toEqual({ from: 2, to: 3 });
    expect(placeOf(docOf(''), 1, 1)).toEqual({ from: 0, to: 0 });
  });
});

describe('the line of a rule', () => {
  const source = 'rules:\n  - id: one\n    decision: allow\n  - match:\n      mode: proxy\n    id: two # late\r\n';
  it('is found by its id', () => {
    expect([lineOfRule(source, 'one'), lineOfRule(source, 'two')]).toEqual([2, 6]);
  });
  it('is null if no rule has this id', () => expect(lineOfRule(source, 'on')).toBeNull());
});
