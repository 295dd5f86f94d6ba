import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  boolean,
  type Check,
  closed,
  digest,
  idOf,
  integer,
  list,
  matching,
  nullable,
  oneOf,
  SchemaError,
  text,
  timestamp,
} from './closed-schema.js';
import { canonicalize } from './jcs.js';
import { ARGS_PROFILE, type JsonValue, parseStrictJson, StrictJsonError } from './strict-json.js';

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

describe('the canonical texts of a check', () => {
  const ID = '0123456789abcdefghjkmnpqrs';
  const checks: Readonly<Record<string, Check<unknown>>> = {
    text: text(9),
    matching: matching(/^[a-z]+(?:-[0-9]{1,3})?$/),
    id: idOf('org'),
    digest,
    timestamp,
    boolean,
    'an integer': integer(0),
    'a positive integer': integer(1),
    oneOf: oneOf('kg', 'service.deed/1'),
    nullable: nullable(integer(1)),
    list: list(oneOf('kg', 'm'), 3),
    closed: closed({ b: integer(0), a_2: nullable(text(3)), a: closed({}) }),
  };
  const spelled = [
    ...['0', '1', '-1', '-0', '01', '1.0', '1e3', '999999999999999', '1000000000000000', '9007199254740992'],
    ...['null', 'true', 'false', 'nul', '""', '"kg"', '"kg', '"serviceXdeed/1"', '"service.deed/1"', '"a-12"', '"a-"'],
    ...[
      '"é€\u{1F600}"',
      '"ééééé"',
      '"€€€"',
      '"€€€€"',
      '"\u007f"',
      '"\u2028"',
      '"\\u007f"',
      '"\\u00e9"',
      '"\\/"',
      '"/"',
    ],
    ...['"\\n"', '"\\u000a"', '"\n"', '"\\u0000\\u001f"', '"\\u001F"', '"\\""', '"\\\\"', '"\\ud800"', '"a" ', ' "a"'],
    ...[`"org_${ID}"`, `"org_8${ID.slice(1)}"`, `"sha256:${'a'.repeat(64)}"`, `"sha256:${'A'.repeat(64)}"`],
    ...[
      '"2026-02-28T00:00:00.000Z"',
      '"2026-02-29T00:00:00.000Z"',
      '"2024-02-29T00:00:00.000Z"',
      '"2026-04-31T00:00:00.000Z"',
    ],
    ...['[]', '["kg"]', '["kg","m","m"]', '["kg","m","m","m"]', '["kg",]', '["kg", "m"]', '[null]'],
    ...['{"a":{},"a_2":null,"b":0}', '{"b":0,"a":{},"a_2":null}', '{"a":{},"a_2":null,"b":0,"b":0}', '{"a":{},"b":0}'],
    ...['{"a":{},"a_2":"\\t\\u0001","b":7}', '{"a":{"x":1},"a_2":null,"b":0}', '{"a":{},"a_2":null,"b":0}{}'],
  ];

  const isCanonicalAndAccepted = (check: Check<unknown>, spelling: string): boolean => {
    try {
      const value = parseStrictJson(Buffer.from(spelling), ARGS_PROFILE);
      return canonicalize(value) === spelling && refusal(check, value) === null;
    } catch (error) {
      if (error instanceof StrictJsonError) return false;
      throw error;
    }
  };

  it.each(Object.entries(checks))('of %s are never more than it accepts in canonical form', (_name, check) => {
    const pattern = new RegExp(`^${check.canonical}$`);
    const matched = spelled.filter((spelling) => pattern.test(spelling));
    expect(matched.filter((spelling) => !isCanonicalAndAccepted(check, spelling))).toEqual([]);
    expect(matched).not.toEqual([]);
  });

  it.each([
    ['text', '"€€€€"', 'of 12 bytes', false],
    ['text', '"é\\n\\u0000"', 'with what must be escaped', true],
    ['text', '"abcd"', 'of more than a third of its bytes, which the check takes', false],
    ['an integer', '999999999999999', 'of 15 digits', true],
    ['an integer', '1000000000000000', 'of 16 digits, which the check takes', false],
    ['timestamp', '"2024-02-28T00:00:00.000Z"', 'of an ordinary day', true],
    ['timestamp', '"2024-02-29T00:00:00.000Z"', 'of a leap day, which the check takes', false],
  ])('%s: %s, %s: %s', (name, spelling, _what, isMatched) => {
    expect(new RegExp(`^${checks[name]?.canonical ?? ''}$`).test(spelling)).toBe(isMatched);
  });
});
