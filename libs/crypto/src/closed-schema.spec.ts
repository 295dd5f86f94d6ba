import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { type Check, closed, integer, list, nullable, oneOf, SchemaError, timestamp } from './closed-schema.js';
import type { JsonValue } from './strict-json.js';

const refusal = (check: Check<unknown>, value: JsonValue): string | null => {
  try {
    check(value);
    return null;
  } catch (error) {
    if (error instanceof SchemaError) return `${error.problem} ${error.path}`.trim();
    throw error;
  }
};

describe('a closed schema', () => {
  const order = closed({
    id: integer(1),
    lines: list(closed({ unit: oneOf('kg', 'm'), of: nullable(integer(0)) }), 2),
  });
  const line = { unit: 'kg', of: null };

  it.each<[string, JsonValue, string | null]>([
    ['nothing', { id: 1, lines: [line, { unit: 'm', of: 0 }] }, null],
    ['nothing, in another order', { lines: [], id: 1 }, null],
    ['the root', [], 'value'],
    ['the root, which is null', null, 'value'],
    ['an unknown member before a missing one', { z: 1, y: 2, lines: [] }, 'unknown y'],
    ['an unknown member in the place of another', { id: 1, constructor: [] }, 'unknown constructor'],
    ['the first missing member', {}, 'missing id'],
    ['the only missing member', { id: 1 }, 'missing lines'],
    ['the first wrong value', { id: 0, lines: 0 }, 'value id'],
    ['a list that is too long', { id: 1, lines: [line, line, line] }, 'value lines'],
    ['a value inside a list', { id: 1, lines: [line, { unit: 'm', of: -1 }] }, 'value lines.1.of'],
    ['a member missing inside a list', { id: 1, lines: [{ unit: 'm' }] }, 'missing lines.0.of'],
    ['a member too many inside a list', { id: 1, lines: [{ ...line, x: 1 }] }, 'unknown lines.0.x'],
  ])('names %s', (_name, value, fault) => {
    expect(refusal(order, value)).toBe(fault);
  });

  it('takes __proto__ for a member like any other', () => {
    expect(refusal(order, JSON.parse('{"id":1,"__proto__":[]}') as JsonValue)).toBe('unknown __proto__');
    expect(refusal(order, JSON.parse('{"id":1,"lines":[],"__proto__":[]}') as JsonValue)).toBe('unknown __proto__');
  });
});

describe('a timestamp', () => {
  it('is what the calendar writes again (property)', () => {
    // Each part reaches a little beyond what exists.
    const part = (max: number, length = 2) => fc.integer({ min: 0, max }).map((n) => String(n).padStart(length, '0'));
    const spelling = fc
      .tuple(part(9_999, 4), part(13), part(32), part(24), part(60), part(60), part(999, 3))
      .map(([year, month, day, ...time]) => `${year}-${month}-${day}T${time.slice(0, 3).join(':')}.${time[3] ?? ''}Z`);
    fc.assert(
      fc.property(spelling, (text) => {
        const instant = new Date(text);
        const exists = !Number.isNaN(instant.getTime()) && instant.toISOString() === text && !text.startsWith('0000');
        expect(refusal(timestamp, text)).toBe(exists ? null : 'value');
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    ['2024-02-29T00:00:00.000Z', null],
    ['2100-02-29T00:00:00.000Z', 'value'],
    ['2026-04-30T23:59:59.999Z', null],
    ['2026-04-31T23:59:59.999Z', 'value'],
    ['2026-12-31T24:00:00.000Z', 'value'],
    ['0000-01-01T00:00:00.000Z', 'value'],
    ['0001-01-01T00:00:00.000Z', null],
    ['2026-01-01T00:00:00Z', 'value'],
    ['2026-01-01T00:00:00.000Z\n', 'value'],
  ])('%s: %s', (text, fault) => {
    expect(refusal(timestamp, text)).toBe(fault);
  });
});
