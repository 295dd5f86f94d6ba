import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../support/service.js';

const text = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

interface Fault {
  readonly at: string;
  readonly fault: string;
  readonly callers: string;
  readonly under_way: string;
  /** Each `path: title`. */
  readonly tests: readonly string[];
}

/** What the tables of docs/failure-modes.md are made of; docs-tables.spec.ts holds that they are. */
const faults = JSON.parse(text('docs/failure-modes.json')) as readonly Fault[];

describe('docs/failure-modes.json', () => {
  it('is one list of faults', () => {
    expect(faults.length).toBeGreaterThan(100);
    const members = ['at', 'fault', 'callers', 'under_way', 'tests'];
    expect(faults.filter((fault) => Object.keys(fault).join() !== members.join())).toEqual([]);
  });

  it('has the faults of each part together', () => {
    const parts = faults.map(({ at }) => at);
    const begun = parts.filter((at, index) => at !== parts[index - 1]);
    expect(begun).toEqual([...new Set(parts)]);
  });

  it.each(faults)('$at, $fault: says what happens, and names tests that are there', (fault) => {
    expect([fault.fault, fault.callers, fault.under_way]).not.toContain('');
    expect(fault.tests.length).toBeGreaterThan(0);
    for (const test of fault.tests) {
      const [, path = '', title = ''] = /^(\S+): (.+)$/.exec(test) ?? [];
      expect(title).not.toBe('');
      const titles = text(path)
        .split('\n')
        .filter((line) => /^\s*(?:it|describe)\b|^\s*\]?\)\('|^\s*[`']/.test(line));
      expect(titles.filter((line) => line.includes(title))).not.toEqual([]);
    }
  });
});
