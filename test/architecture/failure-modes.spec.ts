import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** The rows of all tables, by the fault they begin with. */
const rows = text('docs/failure-modes.md')
  .split('\n')
  .filter((line) => /^\| (?!fault |-)/.test(line))
  .map((line) => line.slice(2, -2).split(' | '));

describe('docs/failure-modes.md', () => {
  it('has faults', () => expect(rows.length).toBeGreaterThan(20));

  it.each(rows)('%s: says what happens, and names tests that are there', (...cells) => {
    expect(cells.filter((cell) => cell.trim() !== '')).toHaveLength(4);
    for (const test of (cells.at(-1) ?? '').trim().split(/; (?=`)/)) {
      const [, path = '', title = ''] = /^`([^`]+)`: (.+)$/.exec(test) ?? [];
      expect(title).not.toBe('');
      const titles = text(path)
        .split('\n')
        .filter((line) => /^\s*(?:it|describe)\b|^\s*\]?\)\('|^\s*[`']/.test(line));
      expect(titles.filter((line) => line.includes(title))).not.toEqual([]);
    }
  });
});
