import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The cells of every line that begins as a table's does: the header, the rule under it, and the rows. */
const [header = [], rule = [], ...rows] = text('docs/failure-modes.md')
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) => line.slice(1, -1).split('|'))
  .map((cells) => cells.map((cell) => cell.trim()));

describe('docs/failure-modes.md', () => {
  it('is one table of faults', () => {
    expect(header).toEqual(['at', 'fault', 'callers', 'what was under way', 'test']);
    expect(rule).toEqual(header.map(() => '---'));
    expect(rows.length).toBeGreaterThan(100);
  });

  it('has the faults of each part together', () => {
    const parts = rows.map(([at]) => at);
    const begun = parts.filter((at, index) => at !== parts[index - 1]);
    expect(begun).toEqual([...new Set(parts)]);
  });

  it.each(rows)('%s, %s: says what happens, and names tests that are there', (...cells) => {
    expect(cells.filter((cell) => cell !== '')).toHaveLength(header.length);
    for (const test of (cells.at(-1) ?? '').split(/; (?=`)/)) {
      const [, path = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(test) ?? [];
      expect(title).not.toBe('');
      const titles = text(path)
        .split('\n')
        .filter((line) => /^\s*(?:it|describe)\b|^\s*\]?\)\('|^\s*[`']/.test(line));
      expect(titles.filter((line) => line.includes(title))).not.toEqual([]);
    }
  });
});
